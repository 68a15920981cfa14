export type { ConfigFault } from './config-fault.ts'
export type {
  DestinationDefinition,
  DestinationKind,
  DestinationModule,
  EventMetadata,
  RequestBatches,
  TransformContext,
} from './definition.ts'
export { maskedRequestObject } from './masked-request-object.ts'
export { Masking } from './masking.ts'
export { type Override, overriddenConfig } from './override.ts'
export { DestinationRegistry, type MoreTypes } from './registry.ts'
export type {
  RemoteAnswer,
  RemoteCode,
  RemoteOutcome,
  RemoteRequest,
  RemoteRun,
  RemoteUnit,
  SendRemote,
} from './remote-code.ts'
export { jsonBody, type RequestObject } from './request-object.ts'
export { runTransform, type TransformResult } from './run-transform.ts'
export {
  credentialNames,
  isSecretHeader,
  MASK,
  maskConfig,
  secretValues,
  unmaskConfig,
  withoutMasks,
  withoutSecrets,
} from './secrets.ts'
export {
  batchKeyOf,
  batchLimitsOf,
  batchOutcomesOf,
  certificateOf,
  classifierOf,
  DestinationCodeError,
  joinedRequest,
  mayHaveCredentials,
  refusalOf,
  signatureOf,
  supportsType,
  tokenGrantOf,
  trustedHostsOf,
  wantsEvent,
} from './shield.ts'
export { toWire, type WireRequest } from './wire.ts'
