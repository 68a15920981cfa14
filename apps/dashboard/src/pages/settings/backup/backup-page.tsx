import { Button, Checkbox } from '@mantine/core'
import type { Info } from '@millrace/api-types'
import { commandLine } from '@millrace/wording'
import { useState } from 'react'
import { useAdminInfo, useStartBackup } from '../../../api/health.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { bytesText } from '../../../components/figures/figure-text.ts'
import { Refusal } from '../../../components/form/refusal.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { StateMark } from '../../../components/state-mark.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { Time } from '../../../components/time/time.tsx'
import { settingsTexts } from '../../../texts.ts'
import { CommandLine } from '../command-line.tsx'
import { Facts } from '../facts.tsx'
import styles from '../settings.module.css'
import { SettingsHead } from '../settings-head.tsx'

const POLL_MS = 2000

/** Starts a backup, and shows the last one. */
export function BackupPage() {
  const [isWatching, setWatching] = useState(false)
  const reading = useAdminInfo({ pollMs: isWatching ? POLL_MS : 10_000 })
  return (
    <>
      <SettingsHead actions={<ApiPopover method="POST" path="/v2/admin/backup" body={{}} />} />
      <Shown of={reading}>
        {(info) =>
          info.postgresBackupsFrom === undefined ? (
            <div className={styles.parts}>
              <section className={styles.part} aria-label="Start a backup">
                <h2>Backup</h2>
                <p>
                  Contains configuration, delivery state, schema catalog and log, on the server's disk. The server keeps
                  running.
                </p>
                <p>{settingsTexts.secretKeyNotInBackup}</p>
                <StartBackup isRunning={info.lastBackup?.state === 'running'} onStarted={() => setWatching(true)} />
              </section>
              <section className={styles.part} aria-label="Last backup">
                <h2>Last backup</h2>
                <LastBackup info={info} />
              </section>
              <section className={styles.part} aria-label="Restore">
                <h2>Restore</h2>
                <CommandLine command={commandLine('restore', info.lastBackup?.file ?? 'backup.tar')}>
                  Run this on the new server, with an empty data folder. Copy the secret key there yourself.
                </CommandLine>
              </section>
            </div>
          ) : (
            <ClusterBackup from={info.postgresBackupsFrom} />
          )
        }
      </Shown>
    </>
  )
}

/** A cluster has its state in Postgres, and its events in Kafka. */
function ClusterBackup({ from }: { readonly from: string | null }) {
  return (
    <div className={styles.parts}>
      <section className={styles.part} aria-label="Backup of Postgres">
        <h2>Backup</h2>
        <p>
          Back up Postgres with the tools of Postgres. A backup restores everything while Kafka still holds the events
          that were accepted after it.
        </p>
        <p>{settingsTexts.secretKeyNotInBackup}</p>
        <Facts rows={[{ name: 'Oldest usable backup', value: from === null ? 'any' : <Time at={from} /> }]} />
      </section>
    </div>
  )
}

interface StartBackupProps {
  readonly isRunning: boolean
  readonly onStarted: () => void
}

function StartBackup({ isRunning, onStarted }: StartBackupProps) {
  const [withLog, setWithLog] = useState(true)
  const { mutate, error, isPending } = useStartBackup()
  const { needed, free } = (error as { details?: { needed?: unknown; free?: unknown } } | null)?.details ?? {}
  return (
    <>
      <Checkbox
        label="Include the event log"
        description="Without the log, a restore loses the events that wait for delivery."
        checked={withLog}
        onChange={({ currentTarget }) => setWithLog(currentTarget.checked)}
      />
      <Refusal error={error} />
      {typeof needed === 'number' && typeof free === 'number' && (
        <p className={styles.dim}>
          It needs {bytesText(needed)}, and {bytesText(free)} are free.
        </p>
      )}
      <NeedsRole role="admin">
        <Button
          loading={isPending || isRunning}
          onClick={() => mutate(withLog ? {} : { log: false }, { onSuccess: onStarted })}
        >
          Start backup
        </Button>
      </NeedsRole>
    </>
  )
}

const MARKS = { running: 'waiting', done: 'ok', failed: 'failed' } as const

function LastBackup({ info: { lastBackup, settings } }: { readonly info: Info }) {
  if (lastBackup === null) return <p className={styles.dim}>No backups yet.</p>
  const { file, state, reason } = lastBackup
  const folder = settings['MILLRACE_BACKUP_DIR']
  return (
    <Facts
      rows={[
        { name: 'File', value: <code>{file}</code> },
        { name: 'Folder', value: <code>{typeof folder === 'string' ? folder : 'backups, in the data folder'}</code> },
        { name: 'State', value: <StateMark kind={MARKS[state]}>{state}</StateMark> },
        ...(reason === undefined ? [] : [{ name: 'Reason', value: reason }]),
      ]}
    />
  )
}
