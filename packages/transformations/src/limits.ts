/** @see contracts/transformations.md §7; those with a setting come from the operator. */
export interface TransformationLimits {
  /** MILLRACE_TRANSFORM_MEMORY_MB: of one sandbox. */
  readonly memoryMb: number
  /** MILLRACE_TRANSFORM_SANDBOXES: alive at a time. */
  readonly sandboxes: number
  /** MILLRACE_TRANSFORM_WORKERS: child processes for live traffic. */
  readonly workers: number
  /** MILLRACE_TRANSFORM_TOTAL_MB: of all sandboxes together. */
  readonly totalMb: number
  /** MILLRACE_TRANSFORM_SYNC_MS: what one run may compute, all steps together. */
  readonly syncMs: number
  /** MILLRACE_TRANSFORM_WALL_MS: one batch, everything. */
  readonly wallMs: number
}

export const DEFAULT_LIMITS: TransformationLimits = {
  memoryMb: 128,
  sandboxes: 64,
  workers: 2,
  totalMb: 512,
  syncMs: 4_000,
  wallMs: 30_000,
}

export const MAX_FETCHES_PER_EVENT = 20
/** Of one request, address, headers and body together, and of all requests of a run that have no answer yet. */
export const MAX_FETCH_REQUEST_BYTES = 1024 * 1024
export const MAX_OPEN_FETCH_BYTES = 32 * 1024 * 1024
export const FETCH_TIMEOUT_MS = 10_000
export const MAX_FETCH_ANSWER_BYTES = 1024 * 1024
export const MAX_OUTPUTS_PER_EVENT = 1_000
export const MAX_OUTPUT_BYTES = 256 * 1024
/** Of objects and lists in each other; what is nested far deeper cannot be copied, compared or masked. */
export const MAX_OUTPUT_LEVELS = 1_000
export const MAX_LOG_LINES = 100
export const MAX_LOG_LINE_BYTES = 4 * 1024
/** Of one run's results as text. A batch of 100 with outputs of the largest size stays below. */
export const MAX_RESULT_BYTES = 32 * 1024 * 1024
/** Of one frame from a child: results, or requests, and some room for log lines and what else a message says. */
export const MAX_FRAME_BYTES = 40 * 1024 * 1024
/** Of what a child says on its standard error, which is nothing unless it ends. */
export const MAX_STDERR_BYTES = 1024 * 1024
/** Of one failure text; the contract names no bound, and a message may be as long as the sandbox has memory. */
export const MAX_FAILURE_CHARS = 8 * 1024
/** Code of 256 KB has fewer; the name of a library has 200 characters. */
export const MAX_CODE_IMPORTS = 30_000
export const MAX_IMPORT_NAME_CHARS = 1_000

/** A child this far past a limit is killed. */
export const KILL_GRACE_MS = 500
/** A child that grows by more in one run is killed. */
export const MAX_GROWTH_BYTES = 256 * 1024 * 1024
/** A sandbox that holds more after a run is closed. */
export const LARGE_SANDBOX_BYTES = 32 * 1024 * 1024
export const IDLE_SANDBOX_MS = 60_000
export const PENALTY_MS = 600_000
/** Over which it is counted what a destination's code has used. */
export const USAGE_MS = 60_000
/** Of the time of all live processes, divided by the destinations: what runs may take that hold up others. */
export const HELD_SHARE = 0.1
export const MIN_HELD_MS = 1_000
/** A process that has been at one run for so long holds up others. */
export const HELD_MS = 50
