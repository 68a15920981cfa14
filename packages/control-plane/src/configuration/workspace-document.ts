import { ApiError, badRequest, refuseUnknownMembers } from '@millrace/openapi'
import { isJsonObject, type JsonObject, ownMember } from '@millrace/protocol'
import { type Author, MILLRACE } from '../people/author.ts'
import { unavailable } from '../refusals.ts'
import type { DestinationTypes } from '../resources/destination-types.ts'
import { maskedConfig } from '../resources/destinations.ts'
import { newWriteKey } from '../resources/sources.ts'
import { readBoolean } from '../resources/written-fields.ts'
import type { ControlStore } from '../store/control-store.ts'
import type { CodeChecks } from '../transformations/code-checks.ts'
import type { Deliveries } from '../workspace/deliveries.ts'
import type { ChangeBase, Workspace } from '../workspace/workspace.ts'
import { auditedChange } from './audited-change.ts'
import { configurationDocument } from './document.ts'
import { type DocumentError, DocumentErrors } from './document-errors.ts'
import { type Plan, planDocument } from './plan.ts'
import type { PlannedChange } from './planning.ts'
import { StepTurns } from './step-turns.ts'
import { waitingForRemoved } from './waiting-for-removed.ts'

/** A change as readers of a plan see it. */
export type ShownChange = Omit<PlannedChange, 'change' | 'versions'>

export interface ShownPlan {
  readonly revision: number
  readonly changes: readonly ShownChange[]
  readonly errors: readonly DocumentError[]
}

export type Applied = Omit<ShownPlan, 'errors'>

/** The result, with warnings for the client. */
export interface Warned<T> {
  readonly answer: T
  readonly warning: string | undefined
}

/** Maximum of documents in memory at a time; each may have 4,000 KB of JSON. */
const MAX_AT_ONCE = 8

/** The configuration of the workspace as one document. @see contracts/control-plane.md §9 */
export class WorkspaceDocument {
  readonly #workspace: Workspace
  readonly #deliveries: Deliveries
  readonly #types: DestinationTypes
  readonly #checks: CodeChecks
  readonly #store: ControlStore
  #running = 0

  constructor(
    workspace: Workspace,
    deliveries: Deliveries,
    types: DestinationTypes,
    checks: CodeChecks,
    store: ControlStore,
  ) {
    this.#checks = checks
    this.#store = store
    this.#workspace = workspace
    this.#deliveries = deliveries
    this.#types = types
  }

  /** The whole configuration, without secrets. */
  pull(): { readonly revision: number; readonly document: JsonObject } {
    const { snapshot } = this.#workspace.state
    const document = configurationDocument(snapshot, (destination) => maskedConfig(this.#types, destination))
    return { revision: snapshot.revision, document }
  }

  /**
   * The changes that a document would make.
   *
   * @param written `{document, prune}`
   * @throws ApiError 400 if `written` is malformed; errors inside the document are part of the answer. 503 if too many
   * plans are in progress.
   */
  plan(written: JsonObject): Promise<Warned<ShownPlan>> {
    return this.#inBounds(() => this.#show(written))
  }

  async #show(written: JsonObject): Promise<Warned<ShownPlan>> {
    refuseUnknownMembers(written, ['document', 'prune'])
    const { revision, changes, errors, warning } = await this.#planNow(MILLRACE, written)
    return { answer: { revision, changes: changes.map(shown), errors }, warning }
  }

  async #planNow(by: Author, written: JsonObject): Promise<Plan & { readonly revision: number }> {
    const { snapshot } = this.#workspace.state
    const moment = { snapshot, at: this.#workspace.clock.now(), nextRevision: snapshot.revision + 1 }
    return { ...(await this.#plan(by, moment, written)), revision: snapshot.revision }
  }

  /**
   * Applies a document: all of it or, if it throws, nothing.
   *
   * @param written `{document, prune, revision, discard}`; the revision is that of the plan.
   * @throws ApiError 400; 422 with every error of the document; 409 if the configuration has changed since the plan, or
   * events wait for removed resources; 503 if too many documents are in progress.
   */
  apply(by: Author, written: JsonObject): Promise<Warned<Applied>> {
    return this.#inBounds(() => this.#carryOut(by, written))
  }

  async #carryOut(by: Author, written: JsonObject): Promise<Warned<Applied>> {
    refuseUnknownMembers(written, ['document', 'prune', 'revision', 'discard'])
    const mayDiscard = readBoolean(written, 'discard', false)
    const revision = ownMember(written, 'revision')
    if (!Number.isSafeInteger(revision)) throw badRequest('revision must be an integer')
    // Code is checked before, so no other change waits for the sandbox.
    if (hasCode(written)) refuseErrors(await this.#planNow(by, written))
    return this.#workspace.change(by, async (moment) => {
      const plan = await this.#plan(by, moment, written)
      refuseErrors(plan)
      const { changes, warning } = plan
      const { snapshot } = moment
      if (revision !== snapshot.revision) throw new ApiError('conflict', 'Configuration has changed')
      const waiting = mayDiscard ? 0 : await waitingForRemoved(this.#deliveries, snapshot, changes)
      if (waiting > 0) throw new ApiError('conflict', 'Events are waiting', { details: { waiting } })
      const answer = {
        revision: changes.length === 0 ? snapshot.revision : moment.nextRevision,
        changes: changes.map(shown),
      }
      return {
        changes: changes.flatMap(({ change, versions = [] }) => [...versions, change]),
        audit: changes.map(auditedChange),
        result: { answer, warning },
      }
    })
  }

  async #inBounds<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= MAX_AT_ONCE) throw unavailable()
    this.#running++
    try {
      return await work()
    } finally {
      this.#running--
    }
  }

  async #plan(
    by: Author,
    { snapshot, at, nextRevision }: Pick<ChangeBase, 'snapshot' | 'at' | 'nextRevision'>,
    written: JsonObject,
  ): Promise<Plan> {
    const isPruning = readBoolean(written, 'prune', false)
    const document = ownMember(written, 'document')
    if (!isJsonObject(document)) throw badRequest('document must be an object')
    const workspace = this.#workspace
    const planning = {
      snapshot,
      at,
      nextRevision,
      workspaceId: workspace.id,
      partitions: workspace.partitions,
      types: this.#types,
      checks: this.#checks,
      store: this.#store,
      createdBy: by.actor,
      newId: (time: number) => workspace.newId(time),
      newWriteKey: () => newWriteKey(workspace.random),
      isPruning,
      errors: new DocumentErrors(),
      turns: new StepTurns(),
    }
    return planDocument(planning, document)
  }
}

function shown({ action, kind, key, diff }: PlannedChange): ShownChange {
  return { action, kind, key, diff }
}

/** @throws ApiError 422 with all of them. */
function refuseErrors({ errors }: Pick<Plan, 'errors'>): void {
  if (errors.length === 0) return
  const details = { errors: errors.map((each) => ({ ...each })) }
  throw new ApiError('invalid_config', 'Invalid config', { details })
}

function hasCode({ document }: JsonObject): boolean {
  return isJsonObject(document) && ['libraries', 'transformations'].some((section) => Object.hasOwn(document, section))
}
