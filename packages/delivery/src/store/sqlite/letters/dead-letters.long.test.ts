import './dead-letters.chaos.test.ts'
