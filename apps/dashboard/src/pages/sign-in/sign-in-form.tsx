import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { ApiError } from '../../api/requests/client.ts'
import { signIn } from '../../api/session/session.ts'
import { secondsToWait } from '../../components/form/refusal.tsx'
import { pageTexts, signInTexts } from '../../texts.ts'
import styles from './sign-in.module.css'

interface SignInFormProps {
  /** The previous user of this browser. */
  readonly email?: string
  readonly onSignedIn: () => void
}

export function SignInForm({ email, onSignedIn }: SignInFormProps) {
  const client = useQueryClient()
  const { mutate, error, isPending } = useMutation({
    mutationFn: (written: { email: string; token: string }) => signIn(client, written),
    onSuccess: onSignedIn,
  })
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    mutate({ email: String(form.get('email')).trim(), token: String(form.get('token')).trim() })
  }
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      {error !== null && (
        <p role="alert" className={styles.error}>
          {textOf(error)}
        </p>
      )}
      <TextInput
        size="sm"
        label={signInTexts.email}
        name="email"
        type="email"
        autoComplete="username"
        defaultValue={email}
        required
        withAsterisk={false}
        data-autofocus={email === undefined || undefined}
        autoFocus={email === undefined}
      />
      <PasswordInput
        size="sm"
        label={signInTexts.token}
        name="token"
        autoComplete="current-password"
        required
        withAsterisk={false}
        data-autofocus={email !== undefined || undefined}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the token' }}
      />
      <Button type="submit" size="sm" fullWidth loading={isPending}>
        Sign in
      </Button>
      <p className={styles.help}>{signInTexts.firstStart}</p>
    </form>
  )
}

/** All refusals have one text: it must not reveal which part was wrong. */
function textOf(error: Error): string {
  if (!(error instanceof ApiError)) return pageTexts.panelFailed
  if (error.kind === 'connection') return 'No connection to the server.'
  if (error.kind === 'server') return pageTexts.serverFailed(error.status, error.requestId)
  if (error.kind === 'rate') return pageTexts.tryAgainIn(secondsToWait(error))
  return signInTexts.refused
}
