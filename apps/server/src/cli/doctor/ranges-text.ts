/** `0–3, 8`: ranges of three and more are joined. */
export function rangesText(numbers: readonly number[]): string {
  const ranges: number[][] = []
  for (const each of numbers) {
    const last = ranges.at(-1)
    if (last?.at(-1) === each - 1) last.push(each)
    else ranges.push([each])
  }
  return ranges.map((range) => (range.length > 2 ? `${range[0]}–${range.at(-1)}` : range.join(', '))).join(', ')
}
