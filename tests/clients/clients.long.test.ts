import { CLIENTS } from './clients.ts'
import { describeClient } from './describe-client.ts'

for (const client of CLIENTS) describeClient(client)
