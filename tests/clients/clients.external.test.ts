import { CLIENTS } from './clients.ts'
import { describeClient } from './describe-client.ts'
import { describeWebClient } from './describe-web-client.ts'
import { WEB_CLIENTS } from './web-clients.ts'

/* One for servers and one for pages: all of them are in `npm run verify:long`. */

for (const client of CLIENTS) if (client.isRepresentative) describeClient(client)
for (const client of WEB_CLIENTS) if (client.isRepresentative) describeWebClient(client)
