// The core comes first: in this order the bundle compresses better.
import '../core/calls/methods.ts'
import { instance } from './instance.ts'

/* Becomes www/service-client.js, which plugin.xml makes the global ServiceClient. */

declare const module: { exports: unknown }

module.exports = instance().client
