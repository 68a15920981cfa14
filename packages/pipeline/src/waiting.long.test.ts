import './waiting.chaos.test.ts'
