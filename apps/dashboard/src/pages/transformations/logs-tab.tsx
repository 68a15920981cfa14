import { Switch } from '@mantine/core'
import type { Transformation, TransformationLog } from '@millrace/api-types'
import { Link } from '@tanstack/react-router'
import type { Code } from '../../api/code.ts'
import { useDestinations } from '../../api/destinations.ts'
import { namesOf } from '../../api/names.ts'
import type { Tagged } from '../../api/requests/reading.ts'
import { useChangeTransformation, useTransformationLogs } from '../../api/transformations.ts'
import { Refusal } from '../../components/form/refusal.tsx'
import { shownText } from '../../components/json/shown-text.ts'
import { NeedsRole } from '../../components/needs-role.tsx'
import { Empty } from '../../components/states/empty.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { DataTable } from '../../components/table/data-table.tsx'
import type { Column } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'
import { transformationTexts } from '../../texts.ts'
import type { CodeTabProps } from './code-kind.ts'
import styles from './transformations.module.css'

const POLL_MS = 5_000

/** The log lines of live runs, while logging is on. */
export function LogsTab({ code }: CodeTabProps) {
  const transformation = code as Code as Tagged<Transformation>
  const { id, etag, captureLogs, name, description, language } = transformation
  const { mutateAsync, error, isPending } = useChangeTransformation()
  const logs = useTransformationLogs(id, { pollMs: captureLogs ? POLL_MS : 60_000 })
  const destinations = useDestinations().data
  const write = async (isOn: boolean) => {
    // A refusal is shown below.
    await mutateAsync({ id, etag, name, description, language, code: code.code, captureLogs: isOn }).catch(() => {})
  }
  return (
    <>
      <div className={styles.filters}>
        <NeedsRole role="editor">
          <Switch
            size="xs"
            label="Live logs"
            checked={captureLogs}
            disabled={isPending}
            onChange={({ currentTarget }) => void write(currentTarget.checked)}
          />
        </NeedsRole>
      </div>
      <Refusal error={error} />
      <Shown of={logs}>
        {(lines) => {
          if (lines.length === 0) {
            return <Empty text={captureLogs ? 'No log lines yet.' : transformationTexts.logsOff} />
          }
          return (
            <>
              {!captureLogs && <p className={styles.dim}>{transformationTexts.logsOff}</p>}
              <DataTable
                label="Live logs"
                columns={columnsWith(namesOf(destinations))}
                rows={lines.map((line, at) => ({ ...line, at, time: line.at }))}
                rowId={({ at }) => String(at)}
                copied={({ line }) => line}
              />
            </>
          )
        }}
      </Shown>
    </>
  )
}

type Row = Omit<TransformationLog, 'at'> & { readonly at: number; readonly time: string }

function columnsWith(nameOf: (destinationId: string) => string): readonly Column<Row>[] {
  return [
    {
      key: 'time',
      title: 'Time',
      width: '112px',
      cell: ({ time }) => <Time at={time} isInRow precision="millisecond" />,
    },
    {
      key: 'line',
      title: 'Line',
      width: 'minmax(200px, 3fr)',
      cell: ({ line }) => <code>{shownText(line)}</code>,
      card: 'title',
    },
    {
      key: 'destination',
      title: 'Destination',
      width: 'minmax(120px, 1fr)',
      cell: ({ destinationId }) => nameOf(destinationId),
    },
    {
      key: 'message',
      title: 'messageId',
      width: 'minmax(96px, 1fr)',
      cell: ({ messageId }) => messageOf(messageId),
    },
  ]
}

function messageOf(messageId: string | null) {
  if (messageId === null) return '–'
  return <Link to={`/events/${encodeURIComponent(messageId)}` as string}>{shownText(messageId)}</Link>
}
