import { loadCore } from './core.ts'
import { Engine } from './engine.ts'
import { serve } from './serve.ts'

/*
 * The thread in which the code of the package runs. Everything is closed before the first module of others loads.
 */

serve((onBlocked) => new Engine(loadCore(onBlocked)))
