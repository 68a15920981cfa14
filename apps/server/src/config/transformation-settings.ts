import { number, onOff } from './setting.ts'

/** Limits of user code, by their member of `Settings`. @see contracts/transformations.md */
export const TRANSFORMATION_SETTINGS = {
  transformMemoryMb: number('MILLRACE_TRANSFORM_MEMORY_MB', 128, {
    purpose: 'Maximum memory of a user-code sandbox, in MB.',
    from: 8,
    to: 4_096,
  }),
  transformSandboxes: number('MILLRACE_TRANSFORM_SANDBOXES', 64, {
    purpose: 'Maximum number of live user-code sandboxes.',
    from: 1,
    to: 10_000,
  }),
  transformWorkers: number('MILLRACE_TRANSFORM_WORKERS', 2, {
    purpose: 'Number of processes for user code of live traffic.',
    from: 1,
    to: 64,
  }),
  transformTotalMb: number('MILLRACE_TRANSFORM_TOTAL_MB', 512, {
    purpose: 'Maximum memory of all sandboxes together, in MB; above it the least recently used is closed.',
    from: 32,
    to: 1_048_576,
  }),
  transformSyncMs: number('MILLRACE_TRANSFORM_SYNC_MS', 4_000, {
    purpose: 'CPU time limit of one run of user code, over all transformations, in milliseconds.',
    from: 10,
    to: 600_000,
  }),
  transformWallMs: number('MILLRACE_TRANSFORM_WALL_MS', 30_000, {
    purpose: 'Time limit of user code for a batch, including waits, in milliseconds.',
    from: 1_000,
    to: 600_000,
  }),
  isTransformFetchOn: onOff('MILLRACE_TRANSFORM_FETCH', 'on', 'Whether user code may use fetch and fetchV2.'),
}
