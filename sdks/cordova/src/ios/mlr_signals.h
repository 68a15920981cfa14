/* Signals to the page, but for the lines of the log and the end of a drain. See sdks/cordova/BRIDGE.md, Signals. */
#ifndef MLR_SIGNALS_H
#define MLR_SIGNALS_H

#include "mlr_core.h"
#include "mlr_text.h"

/** @param url the link that brought the app to the foreground, or NULL */
void mlr_signal_start(const mlr_host *host, const char *url);
/** @param is_stored a row was made of the tail */
void mlr_signal_stop(const mlr_host *host, bool is_stored);
/** `{t:'changed'}` */
void mlr_signal_tracking(const mlr_host *host, const char *tracking);
void mlr_signal_network(const mlr_host *host);

/** `"name":` and a fact of the platform. */
void mlr_put_fact(mlr_text *to, const mlr_host *host, const char *name, mlr_fact fact);

#endif
