import './delivery-threads.chaos.test.ts'
