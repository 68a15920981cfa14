import type { ControlStore } from '../control-store.ts'

/** Opens the stores of one database, which is empty at first. */
export interface StoreDatabase extends AsyncDisposable {
  /** @param key selects one of two secret keys. */
  open(key?: 'right' | 'wrong'): Promise<ControlStore>
}
