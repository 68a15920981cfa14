export { authorizationRoutes } from './authorization-routes.ts'
export {
  AUTHORIZATION_VALID_MS,
  type PendingAuthorization,
  type PendingAuthorizations,
} from './authorizations.ts'
export { connectionTestRoute } from './connection-test-route.ts'
export { fieldOptionsRoute } from './field-options-route.ts'
export { OfflineTests, type OfflineTestsOptions } from './offline-tests.ts'
export { answerUnreadableTestPath, testApiRoutes } from './routes.ts'
export type { StageFlags } from './stage-flags.ts'
export type { TestApiOptions, TestClient, TestedConfiguration, TestedDestination, Tester } from './test-api-options.ts'
