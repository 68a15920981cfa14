export type { NewAccessToken } from './access-tokens.ts'
export type { AccessToken, User } from './accounts.ts'
export { ApiError } from './api-error.ts'
export type { AuditAction, Audited, AuditKind } from './audit/audit-entry.ts'
export { type Actor, authorOf } from './authentication.ts'
export { type Author, MILLRACE } from './author.ts'
export type { DocumentError } from './configuration/document-errors.ts'
export type { Connection } from './connection.ts'
export { ControlPlane, type ControlPlaneOptions } from './control-plane.ts'
export type { Credential } from './credential.ts'
export type { Deliveries, DeliveryScope } from './deliveries.ts'
export type { DeliverySettings, Destination } from './destination.ts'
export type { ConfigIssue, DestinationType, DestinationTypeDefinition, DestinationTypes } from './destination-types.ts'
export { FailureBrake } from './failure-brake.ts'
export { type AdminFacts, adminInfoRoute } from './http/account-routes.ts'
export { limitAddress, limitGroup, trustedAddresses } from './http/limit-address.ts'
export { decodeBody, parseBody, readBody } from './http/request-body.ts'
export { answerUnreadablePath, v2Routes } from './http/v2-routes.ts'
export { type Owner, OwnerSettingError, type OwnerSettings } from './owner.ts'
export type { Resource } from './resource.ts'
export type { Condition, RemoveOptions, ResourceService, Written } from './resource-service.ts'
export { isAtLeast, ROLES, type Role } from './role.ts'
export type { Snapshot } from './snapshot.ts'
export {
  type Source,
  type SourceClass,
  type SourceConfig,
  type SourceType,
  sourceClass,
  type WebhookConfig,
} from './source.ts'
export { NewerDatabaseError, WrongSecretKeyError } from './store/control-store.ts'
export { destinationNames } from './store/database-look.ts'
export type { CodeLanguage, PublishedLibrary, PublishedTransformation } from './transformations/code.ts'
export type { NewUser } from './users.ts'
