export { connectionTestRoute } from './connection-test-route.ts'
export { OfflineTests, type OfflineTestsOptions } from './offline-tests.ts'
export { answerUnreadableTestPath, testApiRoutes } from './routes.ts'
export type { TestApiOptions, TestClient, TestedConfiguration, TestedDestination, Tester } from './test-api-options.ts'
