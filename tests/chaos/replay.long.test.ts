import './replay.chaos.test.ts'
