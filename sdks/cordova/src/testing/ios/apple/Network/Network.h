/* As much of Apple's Network as the plugin names; see Foundation.h. */
#pragma once

#import <Foundation/Foundation.h>

@class MLRNetworkPath, MLRNetworkPathMonitor;
typedef MLRNetworkPath *nw_path_t;
typedef MLRNetworkPathMonitor *nw_path_monitor_t;
typedef enum { nw_path_status_invalid, nw_path_status_satisfied, nw_path_status_unsatisfied, nw_path_status_satisfiable } nw_path_status_t;
typedef enum { nw_interface_type_other, nw_interface_type_wifi, nw_interface_type_cellular } nw_interface_type_t;
extern nw_path_monitor_t nw_path_monitor_create(void) __attribute__((ns_returns_retained));
extern void nw_path_monitor_set_queue(nw_path_monitor_t monitor, dispatch_queue_t queue);
extern void nw_path_monitor_set_update_handler(nw_path_monitor_t monitor, void (^handler)(nw_path_t path));
extern void nw_path_monitor_start(nw_path_monitor_t monitor);
extern nw_path_status_t nw_path_get_status(nw_path_t path);
extern bool nw_path_uses_interface_type(nw_path_t path, nw_interface_type_t type);
