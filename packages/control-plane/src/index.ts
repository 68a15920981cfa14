export type { AuditAction, Audited, AuditKind } from './audit/audit-entry.ts'
export type { DocumentError } from './configuration/document-errors.ts'
export { ControlPlane, type ControlPlaneOptions } from './control-plane.ts'
export { limitAddress, limitGroup, trustedAddresses } from './http/limit-address.ts'
export { type AdminFacts, adminInfoRoute } from './http/people/account-routes.ts'
export { decodeBody, parseBody, readBody } from './http/request-body.ts'
export { RoutePatterns } from './http/route-patterns.ts'
export { answerUnreadablePath, v2Routes } from './http/v2-routes.ts'
export type { NewAccessToken } from './people/access-tokens.ts'
export type { AccessToken, User } from './people/accounts.ts'
export type { Actor } from './people/actor.ts'
export { authorOf } from './people/authentication.ts'
export { type Author, MILLRACE } from './people/author.ts'
export { FailureBrake } from './people/failure-brake.ts'
export { type Owner, OwnerSettingError, type OwnerSettings } from './people/owner.ts'
export { isAtLeast, ROLES, type Role } from './people/role.ts'
export type { NewUser } from './people/users.ts'
export type { Connection } from './resources/connection.ts'
export type { Credential } from './resources/credential.ts'
export type { DeliverySettings, Destination } from './resources/destination.ts'
export type {
  ConfigIssue,
  DestinationType,
  DestinationTypeDefinition,
  DestinationTypes,
} from './resources/destination-types.ts'
export type { Resource } from './resources/resource.ts'
export type { Condition, RemoveOptions, ResourceService, Written } from './resources/resource-service.ts'
export {
  type Source,
  type SourceClass,
  type SourceConfig,
  type SourceType,
  sourceClass,
  type WebhookConfig,
} from './resources/source.ts'
export { type ControlStoreOpener, NewerDatabaseError, WrongSecretKeyError } from './store/control-store.ts'
export { destinationNames, endSessions } from './store/database-look.ts'
export { sqliteControlStore } from './store/sqlite-control-store.ts'
export type { CodeLanguage, PublishedLibrary, PublishedTransformation } from './transformations/code.ts'
export type { LogLine, LogLineBook } from './transformations/log-lines.ts'
export type { Deliveries, DeliveryScope } from './workspace/deliveries.ts'
export { SecretBox } from './workspace/secret-box.ts'
export type { Snapshot } from './workspace/snapshot.ts'
