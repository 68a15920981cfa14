import { describeWebClient } from './describe-web-client.ts'
import { WEB_CLIENTS } from './web-clients.ts'

for (const client of WEB_CLIENTS) describeWebClient(client)
