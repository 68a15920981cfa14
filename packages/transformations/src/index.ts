export type { CheckedCode, CheckResult, EntryPoint, Language, LibraryCode, TransformationCode } from './code.ts'
export type { TransformAnswer, TransformFetch, TransformRequest } from './fetch.ts'
export { Sandboxes, type SandboxesOptions, type TransformationFigures } from './host/sandboxes.ts'
export {
  DEFAULT_LIMITS,
  FETCH_TIMEOUT_MS,
  MAX_FAILURE_CHARS,
  MAX_FETCH_ANSWER_BYTES,
  type TransformationLimits,
} from './limits.ts'
export type {
  EventResult,
  InputEvent,
  PackedRun,
  Run,
  RunResult,
  RunTrouble,
  Starved,
  StepFlow,
  StepResult,
  TroubleKind,
} from './run.ts'
export type { TransformationTemplate } from './templates/template.ts'
export { transformationTemplates } from './templates/templates.ts'
