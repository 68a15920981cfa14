import type { RequestObject } from '@millrace/api-types'
import type { JsonObject, JsonValue } from '@millrace/protocol/json'
import { durationText } from '@millrace/wording'
import { usedBody } from '../../api/test-api.ts'
import { JsonView } from '../../components/json/json-view.tsx'
import { shownText } from '../../components/json/shown-text.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { type Exchange, isRefused } from './bench-outcome.ts'
import styles from './test-bench.module.css'

/** Each request with its answer; secrets are masked by the server. */
export function Requests({ exchanges }: { readonly exchanges: readonly Exchange[] }) {
  if (exchanges.length === 0) return <p className={styles.dim}>No request was created.</p>
  return (
    <ol className={styles.requests}>
      {exchanges.map((exchange, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: requests of a run have no other name
        <li key={at} className={styles.exchange}>
          <h3>{exchanges.length === 1 ? 'Request' : `Request ${at + 1} of ${exchanges.length}`}</h3>
          {exchange.request === undefined ? (
            <p className={styles.dim}>Made on the way to delivery; ask for the destination transformation to see it.</p>
          ) : (
            <RequestShown request={exchange.request} />
          )}
          <Answer {...exchange} />
        </li>
      ))}
    </ol>
  )
}

function RequestShown({ request }: { readonly request: RequestObject }) {
  const { method, endpoint, headers, params } = request
  const body = usedBody(request)
  return (
    <>
      <p className={styles.requestLine}>
        <b>{method}</b> {shownText(endpoint)}
      </p>
      <Fields title="Headers" of={headers} />
      <Fields title="Parameters" of={params} />
      {body === undefined ? (
        <p className={styles.dim}>No body.</p>
      ) : (
        <>
          <p className={styles.dim}>Body, {body.form}</p>
          <JsonView value={body.value} what="request body" maxHeight={360} />
        </>
      )}
    </>
  )
}

function Fields({ title, of }: { readonly title: string; readonly of: JsonObject }) {
  const entries = Object.entries(of)
  if (entries.length === 0) return null
  return (
    <div>
      <p className={styles.dim}>{title}</p>
      <dl className={styles.fields}>
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{shownText(name)}</dt>
            <dd>{shownText(typeof value === 'string' ? value : JSON.stringify(value))}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

function Answer({ answer, status, ms }: Exchange) {
  if (status === undefined && answer === undefined) return <StateMark kind="off">not sent</StateMark>
  const isGood = status !== undefined && !isRefused(status)
  return (
    <>
      <p className={styles.answerLine}>
        <StateMark kind={isGood ? 'ok' : 'failed'}>{`answered ${status ?? '–'}`}</StateMark>
        {ms !== undefined && <span className={styles.ms}>{durationText(ms)}</span>}
      </p>
      <JsonView value={(answer ?? null) as JsonValue} what="answer" maxHeight={280} />
    </>
  )
}
