import { ApiPopover } from '../../components/api-popover.tsx'
import { CommandPopover } from '../../components/command-popover.tsx'
import { benchCommand } from './bench-command.ts'
import type { BenchTarget } from './bench-target.ts'
import { EnableTarget } from './enable-target.tsx'
import { SaveFixture } from './save-fixture.tsx'
import type { Bench } from './use-bench.ts'

interface BenchActionsProps {
  readonly bench: Bench
  readonly target: BenchTarget
}

/** The run as a file, a command and a request; and its destination enabled. */
export function BenchActions({ bench, target }: BenchActionsProps) {
  const { stage, force, message, isRead } = bench
  const { origin } = window.location
  return (
    <>
      <SaveFixture bench={bench} />
      <CommandPopover
        text="Command"
        label="Command: this run on the command line"
        title={bench.hasOverride ? 'This run without the overrides; API includes them' : 'This run, as a command'}
        command={isRead && message !== undefined ? benchCommand({ target, stage, force, message, origin }) : undefined}
      />
      <ApiPopover
        method="POST"
        path={`/v0/${target.kind === 'source' ? 'testSource' : 'testDestination'}/${target.id}`}
        query={{ force: force || undefined }}
        body={bench.body}
        isRead={isRead}
      />
      {target.kind === 'destination' && !target.destination.enabled && <EnableTarget id={target.id} />}
    </>
  )
}
