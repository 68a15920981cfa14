export { answerUnreadableTestPath, testApiRoutes } from './routes.ts'
export type { TestApiOptions, TestClient, TestedConfiguration, Tester } from './test-api-options.ts'
