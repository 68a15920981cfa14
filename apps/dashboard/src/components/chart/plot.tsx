import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import UPlot from 'uplot'
import type { ChartProps, ChartSeries } from './chart-series.ts'
import styles from './plot.module.css'
import { axisText, stacked } from './plot-data.ts'

const COLOURS = { accent: '--accent', ok: '--ok', warn: '--warn', bad: '--bad', idle: '--line' } as const

/** Width of the value axis in pixels: about the width of its longest label, at 11 px. */
const CHARACTER = 6.2
const AXIS_GAP = 14

interface Pointed {
  readonly at: number
  readonly left: number
}

interface PlotProps extends ChartProps {
  readonly height: number
  /** Formats a time. */
  readonly timeText: (at: number) => string
}

/**
 * Draws a chart. Its table, and a tooltip at the pointer, show the values. It shares no module with the pages that load
 * it: the bundler would otherwise put the page's code into the chart's file.
 */
export function Plot({ label, times, series, text, timeText, height }: PlotProps) {
  const holder = useRef<HTMLDivElement>(null)
  const [pointed, setPointed] = useState<Pointed>()
  const scheme = useComputedColorScheme('light')
  const latest = useRef(text)
  latest.current = text
  const shape = series.map(({ label, tone, kind }) => `${label} ${tone} ${kind}`).join()

  const plot = useRef<UPlot>(undefined)
  // Reads the colours of the canvas again when the theme changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: values go in below, without drawing everything anew
  useEffect(() => {
    const element = holder.current!
    const made = new UPlot(
      optionsOf(element, series, height, (value) => latest.current(value), setPointed),
      dataOf(times, series),
      element,
    )
    plot.current = made
    const watcher = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [shape, height, scheme])
  useEffect(() => {
    plot.current?.setData(dataOf(times, series))
  }, [times, series])

  return (
    <div className={styles.plot} role="img" aria-label={label} ref={holder} style={{ minHeight: height }}>
      {pointed !== undefined && (
        <PointedValues {...pointed} times={times} series={series} text={text} timeText={timeText} />
      )}
    </div>
  )
}

type PointedValuesProps = Pointed & Pick<PlotProps, 'times' | 'series' | 'text' | 'timeText'>

function PointedValues({ at, left, times, series, text, timeText }: PointedValuesProps) {
  const time = times[at]
  if (time === undefined) return null
  return (
    <div className={styles.tip} style={left < 200 ? { left: left + 64 } : { right: `calc(100% - ${left + 36}px)` }}>
      <div>{timeText(time)}</div>
      {series.map(({ label, values }) => (
        <div key={label}>
          {label} {values[at] === null || values[at] === undefined ? '–' : text(values[at])}
        </div>
      ))}
    </div>
  )
}

/** Bars first, tallest sum first: each bar is drawn over the one that contains it. */
function drawnOrder(series: readonly ChartSeries[]): ChartSeries[] {
  const bars = series.filter(({ kind }) => kind === 'bars')
  return [...bars.reverse(), ...series.filter(({ kind }) => kind !== 'bars')]
}

function dataOf(times: readonly number[], series: readonly ChartSeries[]): UPlot.AlignedData {
  const bars = stacked(series.filter(({ kind }) => kind === 'bars').map(({ values }) => values)).reverse()
  const lines = series.filter(({ kind }) => kind !== 'bars').map(({ values }) => [...values])
  return [times.map((at) => at / 1000), ...bars, ...lines]
}

function optionsOf(
  element: HTMLElement,
  series: readonly ChartSeries[],
  height: number,
  text: (value: number) => string,
  onPoint: (pointed: Pointed | undefined) => void,
): UPlot.Options {
  const colours = getComputedStyle(element)
  const colour = (name: string) => colours.getPropertyValue(name).trim()
  const font = `11px ${colours.fontFamily}`
  const axis = {
    stroke: colour('--dim'),
    font,
    grid: { stroke: colour('--hairline'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: Math.max(element.clientWidth, 1),
    height,
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (_, __, greatest) => [0, greatest > 0 ? greatest * 1.08 : 1] } },
    axes: [
      // The gap separates the first time from the lowest value beside it.
      { ...axis, size: 26, gap: 9, values: (_, splits) => splits.map((second) => axisText(new Date(second * 1000))) },
      {
        ...axis,
        size: (_, values) => AXIS_GAP + CHARACTER * Math.max(0, ...(values ?? []).map(({ length }) => length)),
        // Fractions of events make no sense.
        values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? text(value) : '')),
      },
    ],
    series: [
      {},
      ...drawnOrder(series).map(({ label, tone, kind }): UPlot.Series => {
        const stroke = colour(COLOURS[tone])
        const points = { show: false, size: 4, fill: stroke, filter: lonePoints }
        if (kind !== 'bars') return { label, stroke, width: 1.5, points, spanGaps: false }
        const paths = UPlot.paths.bars!({ size: [0.85, 40] })
        return { label, stroke, fill: stroke, width: 0, points: { show: false }, paths }
      }),
    ],
    hooks: {
      setCursor: [
        ({ cursor: { idx, left } }) =>
          onPoint(idx === null || idx === undefined || left === undefined || left < 0 ? undefined : { at: idx, left }),
      ],
    },
  }
}

/** Values between gaps have no line, so they are drawn as points. */
function lonePoints({ data }: UPlot, at: number): number[] | null {
  const values = data[at] ?? []
  const isGap = (index: number) => values[index] === null || values[index] === undefined
  const lone = [...values.keys()].filter((index) => !isGap(index) && isGap(index - 1) && isGap(index + 1))
  return lone.length === 0 ? null : lone
}
