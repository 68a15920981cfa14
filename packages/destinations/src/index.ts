export type { ConfigFault } from './config/config-fault.ts'
export { maskedRequestObject } from './config/masked-request-object.ts'
export { Masking } from './config/masking.ts'
export {
  credentialNames,
  isSecretHeader,
  MASK,
  maskConfig,
  secretValues,
  withoutMasks,
  withoutSecrets,
} from './config/secrets.ts'
export { unmaskConfig } from './config/unmasked-config.ts'
export type {
  DestinationDefinition,
  DestinationKind,
  DestinationModule,
  EventMetadata,
  RequestBatches,
  TransformContext,
} from './definition.ts'
export { DestinationRegistry, type MoreTypes } from './registry.ts'
export type {
  RemoteAnswer,
  RemoteBatchOutcome,
  RemoteCode,
  RemoteField,
  RemoteFieldOptions,
  RemoteOutcome,
  RemoteRequest,
  RemoteRun,
  RemoteUnit,
  SendRemote,
} from './remote-code.ts'
export { type Override, overriddenConfig } from './requests/override.ts'
export { jsonBody, type RequestObject } from './requests/request-object.ts'
export { toWire, type WireRequest } from './requests/wire.ts'
export { runTransform, type TransformResult } from './run-transform.ts'
export {
  authorizationOf,
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
  wantsEvent,
} from './shield.ts'
export { TypesOnDemand } from './types-on-demand.ts'
