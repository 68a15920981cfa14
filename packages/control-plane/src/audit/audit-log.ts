import type { Logger } from '@millrace/std'
import { type Author, MILLRACE } from '../people/author.ts'
import type { AuditQuery, ControlStore } from '../store/control-store.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { AuditEntry, Audited } from './audit-entry.ts'
import { AuditRetention } from './audit-retention.ts'
import { BackgroundEntries } from './background-entries.ts'
import { boundedDiff, leftOut } from './bounded-diff.ts'
import { EntryCap } from './entry-cap.ts'

/**
 * Actions, and refused actions, with their author. The workspace stores the entries of changes with the change; this
 * class stores all others, in the background.
 *
 * @see contracts/control-plane.md §10 [D719]
 */
export class AuditLog {
  readonly #store: ControlStore
  readonly #workspace: Workspace
  readonly #background: BackgroundEntries
  readonly #retention: AuditRetention
  readonly #failedSignIns: EntryCap
  readonly #tooManyRequests: EntryCap

  constructor(store: ControlStore, workspace: Workspace, logger: Logger) {
    const { clock } = workspace
    this.#store = store
    this.#workspace = workspace
    this.#background = new BackgroundEntries({ store, clock, logger })
    this.#retention = new AuditRetention({ store, clock, logger })
    this.#failedSignIns = new EntryCap(clock, (count) =>
      this.#add(MILLRACE, { ...SIGN_IN, diff: leftOut(count) }, 'unauthorized'),
    )
    this.#tooManyRequests = new EntryCap(clock, (count) => {
      const audited = { action: 'update', kind: 'configuration', resourceId: null, diff: leftOut(count) } as const
      this.#add(MILLRACE, audited, 'rate_limited')
    })
  }

  /** Newest first, including every action that was already answered. */
  async entries(query: AuditQuery): Promise<AuditEntry[]> {
    await this.#background.settled()
    return this.#store.auditEntries(query)
  }

  /** Records an action that does not change the workspace, such as a replay or a backup. */
  done(by: Author, audited: Audited): void {
    this.#add(by, { ...audited, diff: boundedDiff(audited.diff) }, 'ok')
  }

  /** @param code of the error that refused the write. */
  refused(by: Author, audited: Audited, code: string): void {
    // The rate limit bounds all other refusals.
    if (code === 'rate_limited' && !this.#tooManyRequests.admits(`${by.actor} ${by.tokenName}`)) return
    this.#add(by, audited, code)
  }

  /** Records invalid credentials. */
  signInFailed(by: Author): void {
    if (this.#failedSignIns.admits(by.address ?? '')) this.#add(by, SIGN_IN, 'unauthorized')
  }

  /** Records the first request with an access token. */
  firstUse(by: Author, tokenId: string): void {
    this.#add(by, { action: 'first_use', kind: 'access-token', resourceId: tokenId, diff: [] }, 'ok')
  }

  /** Resolves when all entries are stored or removed. */
  async settled(): Promise<void> {
    await this.#background.settled()
    await this.#retention.settled()
  }

  async close(): Promise<void> {
    this.#failedSignIns.end()
    this.#tooManyRequests.end()
    await this.#background.close()
    await this.#retention.close()
  }

  #add({ actor, tokenName, address, requestId }: Author, audited: Audited, outcome: string): void {
    const at = this.#workspace.nextTime()
    const id = this.#workspace.newId(at)
    this.#background.add({ id, at, actor, tokenName, address, requestId, ...audited, outcome })
  }
}

const SIGN_IN: Audited = { action: 'sign_in', kind: 'session', resourceId: null, diff: [] }
