import { number, onOff } from './setting.ts'

/** What user code may take, by its member of `Settings`. @see contracts/transformations.md */
export const TRANSFORMATION_SETTINGS = {
  transformMemoryMb: number('MILLRACE_TRANSFORM_MEMORY_MB', 128, {
    purpose: 'Most memory of one sandbox of user code, in MB.',
    from: 8,
    to: 4_096,
  }),
  transformSandboxes: number('MILLRACE_TRANSFORM_SANDBOXES', 64, {
    purpose: 'Most sandboxes of user code alive at a time.',
    from: 1,
    to: 10_000,
  }),
  transformWorkers: number('MILLRACE_TRANSFORM_WORKERS', 2, {
    purpose: 'Processes that the user code of live traffic runs in.',
    from: 1,
    to: 64,
  }),
  transformTotalMb: number('MILLRACE_TRANSFORM_TOTAL_MB', 512, {
    purpose: 'Most memory of all sandboxes together, in MB; above, the least recently used is closed.',
    from: 32,
    to: 1_048_576,
  }),
  transformSyncMs: number('MILLRACE_TRANSFORM_SYNC_MS', 4_000, {
    purpose: 'What one run of user code may compute, all steps together, in milliseconds.',
    from: 10,
    to: 600_000,
  }),
  transformWallMs: number('MILLRACE_TRANSFORM_WALL_MS', 30_000, {
    purpose: 'Longest run of user code over a batch, waiting included, in milliseconds.',
    from: 1_000,
    to: 600_000,
  }),
  isTransformFetchOn: onOff(
    'MILLRACE_TRANSFORM_FETCH',
    'on',
    'Whether user code may call addresses over fetch and fetchV2.',
  ),
}
