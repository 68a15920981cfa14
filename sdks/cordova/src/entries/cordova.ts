import { instance } from './instance.ts'

/* Becomes www/service-client.js, which plugin.xml makes the global ServiceClient. */

declare const module: { exports: unknown }

module.exports = instance().client
