import type { JsonObject } from '@millrace/protocol/json'
import { JsonView } from '../../../components/json/json-view.tsx'
import { LinkButton } from '../../../components/link-button.tsx'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { schemaTexts } from '../../../texts.ts'
import styles from '../schema.module.css'
import type { ModelTabProps } from './model-tab-props.ts'
import { useMetadata } from './use-metadata.ts'
import { useChosenVersion, VersionSelect } from './version-select.tsx'

const SAMPLE_HEIGHT = 320

/** Complete sample events; links contain no payloads, so a test refers to a messageId. */
export function SamplesTab({ model, versions, source }: ModelTabProps) {
  const versionId = useChosenVersion(versions)
  const reading = useMetadata(model.EventID, versionId)
  if (source?.config.catalog.samples === 'off') return <Empty text={schemaTexts.samplesOff} />
  return (
    <>
      <VersionSelect versions={versions} value={versionId} isClearable />
      <Shown of={reading}>
        {({ SampledEvents }) =>
          SampledEvents.length === 0 ? (
            <Empty text="No samples." />
          ) : (
            <div className={styles.samples}>
              {SampledEvents.map((event, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a messageId may come twice
                <Sample key={at} event={event} number={at + 1} sourceId={source?.id} />
              ))}
            </div>
          )
        }
      </Shown>
    </>
  )
}

interface SampleProps {
  readonly event: JsonObject
  readonly number: number
  readonly sourceId: string | undefined
}

function Sample({ event, number, sourceId }: SampleProps) {
  const { messageId } = event
  const isUsable = typeof messageId === 'string' && sourceId !== undefined
  return (
    <div>
      <div className={styles.sampleHead}>
        <span className={styles.dim}>Sample {number}</span>
        {isUsable && (
          <LinkButton variant="default" to="/test" search={{ source: sourceId, event: messageId }}>
            {schemaTexts.useAsTest}
          </LinkButton>
        )}
      </div>
      <JsonView value={event} what={`sample ${number}`} maxHeight={SAMPLE_HEIGHT} />
    </div>
  )
}
