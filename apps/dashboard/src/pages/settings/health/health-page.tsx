import type { Process } from '@millrace/api-types'
import { counted, durationText } from '@millrace/wording'
import { useDeliveryStates } from '../../../api/destinations.ts'
import { useAdminInfo, useHealth } from '../../../api/health.ts'
import { useCatalogStatus } from '../../../api/schemas.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { bytesText } from '../../../components/figures/figure-text.ts'
import { StateMark } from '../../../components/state-mark.tsx'
import { together } from '../../../components/states/read-state.ts'
import { Shown } from '../../../components/states/shown.tsx'
import { Time } from '../../../components/time/time.tsx'
import { schemaTexts } from '../../../texts.ts'
import { Facts } from '../facts.tsx'
import styles from '../settings.module.css'
import { SettingsHead } from '../settings-head.tsx'
import { Budget } from './budget.tsx'

const POLL_MS = 10_000

/** Checks, log, budget, catalog, version and the effective settings. */
export function HealthPage() {
  const health = useHealth({ pollMs: POLL_MS })
  const server = together({
    info: useAdminInfo({ pollMs: POLL_MS }),
    catalog: useCatalogStatus({ pollMs: POLL_MS }),
    deliveries: useDeliveryStates({ pollMs: POLL_MS }),
  })
  return (
    <>
      <SettingsHead actions={<ApiPopover path="/v2/admin/info" />} />
      <div className={styles.parts}>
        <section className={styles.part} aria-label="Checks">
          <h2>Checks</h2>
          {server.data?.info.processes && (
            <p className={styles.dim}>
              The process that serves this page made these. Each other process shows its own at /health.
            </p>
          )}
          <Shown of={health}>
            {({ checks }) => (
              <Facts
                rows={Object.entries(checks).map(([name, text]) => ({
                  name,
                  value: (
                    <StateMark kind={text === 'ok' ? 'ok' : name === 'backlog' ? 'behind' : 'failed'}>{text}</StateMark>
                  ),
                }))}
              />
            )}
          </Shown>
        </section>
        <Shown of={server}>
          {({ info, catalog, deliveries }) => (
            <div className={styles.parts}>
              <section className={styles.part} aria-label="Server">
                <h2>Server</h2>
                <Facts
                  rows={[
                    { name: 'Version', value: info.version },
                    { name: 'Running for', value: durationText(info.uptimeSeconds * 1000) },
                    { name: 'Configuration', value: `revision ${info.revision}` },
                    // The brokers of a cluster hold its log.
                    ...(info.settings['MILLRACE_KAFKA_BROKERS']
                      ? []
                      : [{ name: 'Log', value: bytesText(info.logBytes) }]),
                    ...info.deliveryThreads.map(({ number, partitions, busyPercent }) => ({
                      name: `Delivery thread ${number}`,
                      value: `${busyPercent} % busy, ${counted(partitions.length, 'partition')}`,
                    })),
                    { name: 'Oldest event', value: <Time at={info.logOldestAt} none="none" /> },
                    {
                      name: 'Waiting and dead events',
                      value: (
                        <Budget
                          deliveries={deliveries}
                          settings={info.settings}
                          warning={health.data?.checks['backlog']}
                        />
                      ),
                    },
                    {
                      name: 'Schema catalog',
                      value:
                        catalog.LagEvents === 0
                          ? 'up to date'
                          : `${schemaTexts.behind(Math.ceil(catalog.LagSeconds))} ${counted(catalog.LagEvents, 'event')} to read.`,
                    },
                  ]}
                />
              </section>
              {info.processes && (
                <section className={styles.part} aria-label="Processes">
                  <h2>Processes</h2>
                  <Facts rows={info.processes.map((each) => ({ name: each.address, value: processText(each) }))} />
                </section>
              )}
              <section className={styles.part} aria-label="Current settings">
                <h2>Current settings</h2>
                <p className={styles.dim}>Environment variables, read when the server starts.</p>
                <Facts
                  rows={Object.entries(info.settings).map(([name, value]) => ({
                    name,
                    value: <code>{value === null ? '–' : String(value)}</code>,
                  }))}
                />
              </section>
            </div>
          )}
        </Shown>
      </div>
    </>
  )
}

/** `gateway, control · 0.1.0 · 12 shards` */
function processText({ roles, version, shards }: Process): string {
  const ofShards = roles.includes('pipeline') ? [counted(shards, 'shard')] : []
  return [roles.join(', '), version, ...ofShards].join(' · ')
}
