import './give-up.chaos.test.ts'
