import { Button, type ButtonProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface LinkButtonProps extends ButtonProps {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly children: ReactNode
}

/** A link that looks like a button; disabled it is none, so that NeedsRole can hold it back. */
export function LinkButton({ to, search, disabled = false, ...look }: LinkButtonProps) {
  if (disabled) return <Button {...look} disabled />
  return <Button {...look} component={Link} to={to} search={(search ?? {}) as never} />
}
