import './trusted-types.ts'
import './theme/base.css'
import './theme/mantine.css'
import './theme/tokens.css'
import './theme/mantine-colours.css'
import './theme/mantine-parts.css'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { newQueryClient } from './api/requests/query-client.ts'
import { cspNonce } from './csp-nonce.ts'
import { askForFirstPage, newRouter } from './router.tsx'
import { theme } from './theme/theme.ts'

const router = newRouter()
const queryClient = newQueryClient()
const colorSchemeManager = localStorageColorSchemeManager({ key: 'millrace.theme' })
setNonce(cspNonce())
askForFirstPage(router, queryClient)

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colorSchemeManager}
      getStyleNonce={cspNonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
