import { useEffect, useState } from 'react'
import { afterFrame } from '../api/after-frame.ts'

/** False until what is around it is on the screen: for what is not to be seen, and need not hold that up. */
export function useAfterFrame(): boolean {
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    let isHere = true
    void afterFrame().then(() => isHere && setDrawn(true))
    return () => {
      isHere = false
    }
  }, [])
  return isDrawn
}
