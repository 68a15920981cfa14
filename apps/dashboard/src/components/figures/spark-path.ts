/**
 * The lines of a small chart from zero to the maximum, `width` × `height` with y downwards. An unknown value is a gap;
 * a single value between gaps is a short line.
 *
 * @returns the attribute `d` of an SVG path; empty if all values are unknown.
 */
export function sparkPath(values: readonly (number | null)[], width: number, height: number): string {
  const greatest = Math.max(0, ...values.filter((value) => value !== null))
  const step = values.length > 1 ? width / (values.length - 1) : 0
  const point = (value: number, at: number) => {
    const y = greatest === 0 ? height : height - (value / greatest) * height
    return `${round(at * step)} ${round(y)}`
  }
  let path = ''
  values.forEach((value, at) => {
    if (value === null) return
    const isFirst = at === 0 || values[at - 1] === null
    const isAlone = isFirst && (at === values.length - 1 || values[at + 1] === null)
    path += `${isFirst ? 'M' : 'L'}${point(value, at)}${isAlone ? 'h1' : ''}`
  })
  return path
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
