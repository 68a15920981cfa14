import type { DeliveryState } from '@millrace/api-types'
import { useMemo } from 'react'
import { useDeliveryState, waitingOf } from '../../../api/destinations.ts'
import { useStats } from '../../../api/stats.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { Choice } from '../../../components/choice.tsx'
import { Empty } from '../../../components/states/empty.tsx'
import { together } from '../../../components/states/read-state.ts'
import { Shown } from '../../../components/states/shown.tsx'
import { useSearchValues } from '../../../shell/search-values.ts'
import { destinationTexts } from '../../../texts.ts'
import type { DestinationTabProps } from '../destination-tab-props.ts'
import styles from '../destinations.module.css'
import { DeliveryMeaning } from './delivery-meaning.tsx'
import { Funnel } from './funnel.tsx'
import { OverviewCharts } from './overview-charts.tsx'
import { type OverviewFigures, overviewFigures } from './overview-figures.ts'
import { overviewSearch, RANGE_NAMES, RANGES } from './overview-range.ts'

const POLL_MS = 10_000

/** What became of events lately, and what stands in their way. */
export function DestinationOverview({ destination }: DestinationTabProps) {
  const [{ range = '1h' }, set] = useSearchValues(overviewSearch)
  const { seconds, step } = RANGES[range]
  const asked = { destinationId: destination.id, by: 'reason', hasCurrentStep: true } as const
  const stats = useStats({ seconds, step, ...asked }, { pollMs: step === 10 ? POLL_MS : 60_000 })
  const delivery = useDeliveryState(destination.id, { pollMs: POLL_MS })
  return (
    <div className={styles.sections}>
      <div className={styles.bar}>
        <Choice
          label="Range"
          options={RANGE_NAMES.map((value) => ({ value, text: RANGES[value].label }))}
          value={range}
          onChange={(value) => set({ range: value })}
        />
        <ApiPopover path={`/v2/destinations/${destination.id}/delivery`} />
      </div>
      <Shown of={together({ stats, delivery })}>
        {({ stats, delivery }) => (
          <div className={styles.sections}>
            <DeliveryMeaning delivery={delivery} isEnabled={destination.enabled} />
            <Course figures={overviewFigures(stats, destination.id)} delivery={delivery} />
          </div>
        )}
      </Shown>
    </div>
  )
}

interface CourseProps {
  readonly figures: OverviewFigures
  readonly delivery: DeliveryState
}

function Course({ figures, delivery }: CourseProps) {
  const waiting = waitingOf(delivery)
  const isNothing = useMemo(
    () => Object.values(figures.sums).every((sum) => sum === 0) && waiting === 0,
    [figures, waiting],
  )
  if (isNothing) return <Empty text={destinationTexts.nothingSent} />
  return (
    <>
      <Funnel figures={figures} waiting={waiting} destinationId={delivery.destinationId} />
      <OverviewCharts figures={figures} />
    </>
  )
}
