/** A part of the end-to-end tests that fails over a cluster, by contract. */
export interface Difference {
  readonly file: string
  /** Parts of the names of tests; default: all of the file. */
  readonly tests?: readonly string[]
  /** With the section of docs/contracts/cluster.md. */
  readonly why: string
}

/** Files whose subject is an embedded server: they start it as a process, and look into its data folder. They are left out. */
export const EMBEDDED_ONLY: readonly Pick<Difference, 'file' | 'why'>[] = [
  { file: 'tests/e2e/embedded-modules.test.ts', why: 'which modules an embedded server loads' },
  { file: 'tests/e2e/file-modes.test.ts', why: 'the files of a data folder' },
  { file: 'tests/e2e/first-start.test.ts', why: 'the first start on an empty data folder, with printed secrets (§1)' },
]

const NO_CATALOG = 'the schema catalog is not built: its routes answer 503 (first table)'
const STEP_UNKNOWN = 'which step an unfinished event is at is unknown: it is shown as pending (§10)'
const NO_INBOX = 'the quickstart and the inbox are off (§9)'

/** Each of these must fail; one that passes no longer differs. */
export const DIFFERENCES: readonly Difference[] = [
  { file: 'tests/e2e/schema-catalog/access.test.ts', why: NO_CATALOG },
  { file: 'tests/e2e/schema-catalog/limits.test.ts', why: NO_CATALOG },
  { file: 'tests/e2e/schema-catalog/models.test.ts', why: NO_CATALOG },
  { file: 'tests/e2e/schema-catalog/values.test.ts', why: NO_CATALOG },
  { file: 'tests/e2e/session.test.ts', tests: ['schema catalog takes both halves'], why: NO_CATALOG },
  {
    file: 'tests/e2e/roles.test.ts',
    tests: ['POST /v2/admin/rebuild-catalog', 'DELETE /v2/sources/:id/catalog'],
    why: NO_CATALOG,
  },
  { file: 'tests/e2e/session.test.ts', tests: ['inbox takes both halves'], why: NO_INBOX },
  { file: 'tests/e2e/roles.test.ts', tests: ['GET /inbox/quickstart', 'every route that answers'], why: NO_INBOX },
  { file: 'tests/e2e/roles.test.ts', tests: ['POST /v2/admin/backup'], why: 'Postgres is what is backed up (§13)' },
  {
    file: 'tests/e2e/roles.test.ts',
    tests: ['GET /v2/refusals'],
    why: 'refused requests of all gateways are not built (first table)',
  },
  {
    file: 'tests/e2e/roles.test.ts',
    tests: ['POST /v2/replays/:id/pause', 'POST /v2/replays/:id/resume', 'POST /v2/replays/:id/cancel'],
    why: STEP_UNKNOWN,
  },
  { file: 'tests/e2e/dead-letter-jobs.test.ts', tests: ['each step of one'], why: STEP_UNKNOWN },
  {
    file: 'tests/e2e/configuration-changes.test.ts',
    tests: ['events that wait behind a call without an answer'],
    why: STEP_UNKNOWN,
  },
  {
    file: 'tests/e2e/configuration-changes.test.ts',
    tests: ['a new address governs the very next event'],
    why: 'the owner reads an event some milliseconds after its acceptance, and sends it to the address of that moment (§6)',
  },
  {
    file: 'tests/e2e/status-routes.test.ts',
    tests: ['health is the whole object', 'count what was accepted'],
    why: 'checks, metrics and appType are those of the roles (§11)',
  },
]
