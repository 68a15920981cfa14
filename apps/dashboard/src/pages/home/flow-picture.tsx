import type { Series } from '@millrace/api-types'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { rateText } from '../../components/figures/figure-text.ts'
import { Sparkline } from '../../components/figures/sparkline.tsx'
import { shownText } from '../../components/json/shown-text.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { Icon } from '../../shell/icon.tsx'
import { destinationTexts, homeTexts } from '../../texts.ts'
import { Chain } from './chain.tsx'
import type { DestinationNode, Flow, FlowNode } from './flow.ts'
import { FlowLines, feedWidth } from './flow-lines.tsx'
import styles from './home.module.css'

interface FlowPictureProps {
  readonly flow: Flow
  readonly courses: ReadonlyMap<string, Series>
  readonly focus: string | undefined
  readonly onFocus: (id: string | undefined) => void
}

/** Sources on the left, a lane per destination on the right, lines between them. @see contracts/dashboard.md §5 [U7] */
export function FlowPicture({ flow, courses, focus, onFocus }: FlowPictureProps) {
  const [pointedNode, setPointedNode] = useState<string>()
  const [pointedStep, setPointedStep] = useState<string>()
  const node = (of: FlowNode, path: string) => (
    <NodeCard
      node={of}
      to={path}
      course={courses.get(of.id)}
      isFocus={of.id === focus}
      onFocus={() => onFocus(of.id === focus ? undefined : of.id)}
      onPoint={(isPointed) => setPointedNode(isPointed ? of.id : undefined)}
    />
  )
  return (
    <div className={styles.picture}>
      <div className={styles.column}>
        <h2 className={styles.columnHead}>Sources</h2>
        {flow.sources.map((source) => (
          <div key={source.id} className={styles.lane}>
            {node(source, `/sources/${source.id}/setup`)}
          </div>
        ))}
        <More count={flow.moreSources} to="/sources" />
      </div>
      <FlowLines flow={flow} pointed={pointedNode} />
      <div className={styles.column}>
        <h2 className={styles.columnHead}>Destinations</h2>
        {flow.destinations.map((destination) => (
          <div
            key={destination.id}
            className={styles.lane}
            {...feedOf(flow, destination)}
            data-marked={usesStep(destination, pointedStep) || undefined}
          >
            {destination.chain.length > 0 && (
              <Chain chain={destination.chain} pointed={pointedStep} onPoint={setPointedStep} />
            )}
            {node(destination, `/destinations/${destination.id}/overview`)}
          </div>
        ))}
        {flow.destinations.length === 0 && <p className={styles.none}>{destinationTexts.empty}</p>}
        <More count={flow.moreDestinations} to="/destinations" />
      </div>
    </div>
  )
}

interface NodeCardProps {
  readonly node: FlowNode
  readonly to: string
  readonly course: Series | undefined
  readonly isFocus: boolean
  readonly onFocus: () => void
  readonly onPoint: (isPointed: boolean) => void
}

function NodeCard({ node: { name, state, rate }, to, course, isFocus, onFocus, onPoint }: NodeCardProps) {
  const shown = shownText(name)
  const label = isFocus ? 'Show all' : `Show only ${shown} and its connections`
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pointing only marks lines, which the table below tells in words
    <div
      className={styles.node}
      data-kind={state.kind}
      data-focus={isFocus || undefined}
      onMouseEnter={() => onPoint(true)}
      onMouseLeave={() => onPoint(false)}
      onFocus={() => onPoint(true)}
      onBlur={() => onPoint(false)}
    >
      <div className={styles.nodeLine}>
        <Link to={to} className={styles.nodeName} title={shown}>
          {shown}
        </Link>
        <span className={styles.rate}>{rateText(rate)}</span>
      </div>
      <div className={styles.nodeLine}>
        <StateMark kind={state.kind}>{state.word}</StateMark>
        {course !== undefined && <Sparkline values={course} label={`Course of ${shown}`} width={48} height={16} />}
      </div>
      <button
        type="button"
        className={styles.focus}
        aria-label={label}
        data-tip={label}
        aria-pressed={isFocus}
        onClick={onFocus}
      >
        <Icon name="search" size={12} />
      </button>
    </div>
  )
}

function More({ count, to }: { readonly count: number; readonly to: string }) {
  if (count === 0) return null
  return (
    <Link to={to} className={styles.more}>
      {homeTexts.andMore(count)}
    </Link>
  )
}

/** State of the line into it; undefined if no visible node is connected to it. */
function feedOf({ lines }: Flow, { id }: DestinationNode) {
  const all = lines.filter(({ destinationId }) => destinationId === id)
  const on = all.filter(({ isOff }) => !isOff)
  if (on.length > 0) return { 'data-fed': 'on', style: { ['--feed' as string]: `${feedWidth(on)}px` } }
  return all.length > 0 ? { 'data-fed': 'off' } : {}
}

function usesStep({ chain }: DestinationNode, step: string | undefined): boolean {
  return step !== undefined && chain.some(({ id }) => id === step)
}
