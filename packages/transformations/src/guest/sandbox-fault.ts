import type { SandboxTrouble } from '../run.ts'

/** The sandbox cannot go on, and is closed. */
export class SandboxFault extends Error {
  override readonly name = 'SandboxFault'
  readonly code = 'sandbox-fault'
  readonly kind: SandboxTrouble

  constructor(kind: SandboxTrouble) {
    super(kind)
    this.kind = kind
  }
}
