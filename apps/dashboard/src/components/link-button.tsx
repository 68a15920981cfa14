import { Button, type ButtonProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface LinkButtonProps extends ButtonProps {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly children: ReactNode
}

/** A link in the form of a button; disabled, it is not a link, so NeedsRole can disable it. */
export function LinkButton({ to, search, disabled = false, ...look }: LinkButtonProps) {
  if (disabled) return <Button {...look} disabled />
  return <Button {...look} component={Link} to={to} search={(search ?? {}) as never} />
}
