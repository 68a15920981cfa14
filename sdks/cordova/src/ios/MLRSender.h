#import <Foundation/Foundation.h>

#import "mlr_core.h"

NS_ASSUME_NONNULL_BEGIN

typedef void (^MLRAnswered)(uint64_t request, const mlr_answer *answer);

/**
 * Requests of the engine over NSURLSession: no cookies, no cache, no redirect, and an end whatever the server does. All of it on
 * one queue. See contracts/cordova-sdk.md §15.1.
 */
@interface MLRSender : NSObject

/** @param answered is called once for each request that is not cancelled */
- (instancetype)initWithQueue:(dispatch_queue_t)queue answered:(MLRAnswered)answered;
- (void)send:(const mlr_request *)request;
/** Nobody waits for it any longer. */
- (void)cancel:(uint64_t)request;
/** Everything that is under way ends without an answer. */
- (void)giveUp;

@end

NS_ASSUME_NONNULL_END
