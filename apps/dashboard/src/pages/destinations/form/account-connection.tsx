import { Button } from '@mantine/core'
import type { DestinationDefinition } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { useEffect, useEffectEvent, useState } from 'react'
import {
  awaitReturn,
  type Return,
  returnAddress,
  useBeginAuthorization,
  useFinishAuthorization,
} from '../../../api/authorization.ts'
import { Refusal } from '../../../components/form/refusal.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { ShownId } from '../../../components/shown-id.tsx'
import { authorizationTexts } from '../../../texts.ts'
import styles from '../destinations.module.css'
import type { WhenRead } from './when-read.ts'

interface AccountConnectionProps {
  readonly definition: DestinationDefinition
  readonly config: JsonObject
  readonly destinationId: string | undefined
  readonly disabled: boolean
  readonly whenRead: WhenRead
  readonly onChange: (config: JsonObject) => void
}

/**
 * Fills the refresh token in that the service gives a person, if the type and its configuration use one. The person goes there in another tab,
 * so that what the form holds stays.
 *
 * @see contracts/dashboard.md §9 [D549]
 */
export function AccountConnection({
  definition,
  config,
  destinationId,
  disabled,
  whenRead,
  onChange,
}: AccountConnectionProps) {
  const { authorization } = definition.uiConfig
  const begin = useBeginAuthorization()
  const finish = useFinishAuthorization()
  const [refusal, setRefusal] = useState<string>()
  const [isFilled, setFilled] = useState(false)
  const begun = begin.data?.body
  const onReturn = useEffectEvent((brought: Return) => {
    begin.reset()
    if ('error' in brought) return setRefusal(brought.error)
    finish.mutate(brought, {
      onSuccess: ({ body: { refreshToken, error } }) => {
        if (refreshToken === null) return setRefusal(error ?? '')
        setFilled(true)
        fillIn(refreshToken)
      },
    })
  })
  // The form may have changed while the person was away.
  const fillIn = useEffectEvent((token: string) => onChange({ ...config, [authorization!.variable]: token }))
  const state = begun?.state
  useEffect(() => (state === undefined ? undefined : awaitReturn(state, onReturn)), [state])
  if (authorization === undefined || !isUsed(authorization.where ?? {}, definition, config)) return null

  const start = () => {
    setRefusal(undefined)
    setFilled(false)
    finish.reset()
    const of = destinationId === undefined ? {} : { destinationId }
    begin.mutate({ type: definition.name, config, ...of, redirectUri: returnAddress() })
  }
  return (
    <section className={styles.account} aria-label={authorizationTexts.heading}>
      <h2 className={styles.accountHead}>{authorizationTexts.heading}</h2>
      <p className={styles.dim}>{authorizationTexts.register}</p>
      <ShownId id={returnAddress()} what="address" />
      <div className={styles.formActions}>
        <NeedsRole role="editor">
          <Button
            variant="default"
            disabled={disabled}
            loading={begin.isPending || finish.isPending}
            onClick={() => whenRead(start)}
          >
            {authorizationTexts.start}
          </Button>
        </NeedsRole>
        {begun !== undefined && (
          <a href={begun.url} target="_blank" rel="noopener noreferrer">
            {authorizationTexts.goTo(new URL(begun.url).host)}
          </a>
        )}
        <span role="status">
          {begun !== undefined && authorizationTexts.waiting}
          {isFilled && authorizationTexts.filled}
        </span>
      </div>
      {refusal !== undefined && <p role="alert">{authorizationTexts.refused(refusal)}</p>}
      <Refusal error={begin.error ?? finish.error} />
    </section>
  )
}

/** Whether the configuration has the values with which the token is used; what it omits counts with its default. */
function isUsed(where: JsonObject, { configSchema }: DestinationDefinition, config: JsonObject): boolean {
  const properties = configSchema['properties'] as Record<string, { default?: unknown } | undefined>
  return Object.entries(where).every(([name, value]) => (config[name] ?? properties[name]?.default) === value)
}
