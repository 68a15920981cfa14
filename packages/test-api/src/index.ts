export {
  AUTHORIZATION_VALID_MS,
  type PendingAuthorization,
  type PendingAuthorizations,
} from './authorizations.ts'
export { authorizationRoutes } from './http/authorization-routes.ts'
export { connectionTestRoute } from './http/connection-test-route.ts'
export { fieldOptionsRoute } from './http/field-options-route.ts'
export { answerUnreadableTestPath, testApiRoutes } from './http/routes.ts'
export { OfflineTests, type OfflineTestsOptions } from './offline-tests.ts'
export type { StageFlags } from './stage-flags.ts'
export type { TestApiOptions, TestClient, TestedConfiguration, TestedDestination, Tester } from './test-api-options.ts'
