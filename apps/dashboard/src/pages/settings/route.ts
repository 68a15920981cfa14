import type { PageRoute } from '../../shell/page/page-route.ts'
import { auditSearch } from './audit/audit-search.ts'

export const routes: readonly PageRoute[] = [
  { path: '/settings', redirectTo: '/settings/account' },
  {
    path: '/settings/users',
    title: 'Users',
    load: () => import('./users/users-page.tsx'),
    component: 'UsersPage',
  },
  {
    path: '/settings/credentials',
    title: 'Credentials',
    load: () => import('./credentials/credentials-page.tsx'),
    component: 'CredentialsPage',
  },
  {
    path: '/settings/audit',
    title: 'Audit',
    load: () => import('./audit/audit-page.tsx'),
    component: 'AuditPage',
    search: auditSearch,
  },
  {
    path: '/settings/configuration',
    title: 'Configuration',
    load: () => import('./configuration/configuration-page.tsx'),
    component: 'ConfigurationPage',
  },
  {
    path: '/settings/health',
    title: 'Health',
    load: () => import('./health/health-page.tsx'),
    component: 'HealthPage',
  },
  {
    path: '/settings/backup',
    title: 'Backup',
    load: () => import('./backup/backup-page.tsx'),
    component: 'BackupPage',
  },
]
