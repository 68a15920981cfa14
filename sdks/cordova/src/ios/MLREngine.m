#import "MLREngine.h"

#import <stdatomic.h>
#import <time.h>

#import "MLRDeviceFacts.h"
#import "MLRSender.h"
#import "mlr_core.h"

/** Calls that may wait for the queue; one more is refused. */
static const long MLRCallsWaiting = 10000;

/** Opt-outs and the like that may wait beyond those. */
static const long MLRUrgentCallsWaiting = 1000;

@interface MLREngine ()

@property(nonatomic, readonly) MLRDeviceFacts *facts;
@property(nonatomic, readonly) MLRSender *sender;
/** Of each WebView of the app that listens, the newest last. */
@property(atomic, copy) NSArray<MLRPage> *pages;

// Of the queue:
@property(nonatomic, readonly) NSMutableDictionary<NSNumber *, MLRAnswer> *answers;

@end

@implementation MLREngine {
  dispatch_queue_t _queue;
  mlr_core *_core;
  uint64_t _lastCall;
  /** Calls that the queue has not begun. Counted before they enter it, by any thread. */
  atomic_long _waiting;
}

// ---- The world of the C engine, on its queue

static MLREngine *engineOf(void *host) {
  return (__bridge MLREngine *)host;
}

static id parsed(const char *json) {
  NSData *text = [NSData dataWithBytes:json length:strlen(json)];
  return [NSJSONSerialization JSONObjectWithData:text options:NSJSONReadingFragmentsAllowed error:NULL] ?: [NSNull null];
}

static int64_t now(void *host) {
  return (int64_t)([NSDate date].timeIntervalSince1970 * 1000);
}

static int64_t monotonic(void *host) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static double randomNumber(void *host) {
  return arc4random() / 4294967296.0;
}

static void uuid(void *host, char text[37]) {
  strlcpy(text, [NSUUID UUID].UUIDString.lowercaseString.UTF8String, 37);
}

static bool isOnline(void *host) {
  return engineOf(host).facts.isOnline;
}

static char *fact(void *host, mlr_fact fact) {
  MLREngine *engine = engineOf(host);
  NSDictionary *known = @{};
  switch (fact) {
    case MLR_LAUNCH:
      known = [engine.facts launchInForeground:engine.lifecycle.isForeground url:engine.lifecycle.url];
      break;
    case MLR_CONTEXT:
    case MLR_CONTEXT_WITH_DEVICE_ID:
      known = [engine.facts contextWithDeviceId:fact == MLR_CONTEXT_WITH_DEVICE_ID];
      break;
    case MLR_CHANGING_CONTEXT:
      known = [engine.facts changingContext];
      break;
  }
  NSData *json = [NSJSONSerialization dataWithJSONObject:known options:0 error:NULL];
  return strndup(json == nil ? "{}" : json.bytes, json == nil ? 2 : json.length);
}

static void sendRequest(void *host, const mlr_request *request) {
  [engineOf(host).sender send:request];
}

static void cancelRequest(void *host, uint64_t request) {
  [engineOf(host).sender cancel:request];
}

static void answer(void *host, uint64_t call, bool isSuccess, const char *json) {
  MLREngine *engine = engineOf(host);
  MLRAnswer waiting = engine.answers[@(call)];
  [engine.answers removeObjectForKey:@(call)];
  if (waiting) waiting(isSuccess, parsed(json));
}

static void signalPage(void *host, const char *json) {
  MLRPage page = engineOf(host).pages.lastObject;
  if (page) page(parsed(json));
}

/** To the page's console while the app is in front, else to the system's log. */
static void logLine(void *host, int level, const char *text) {
  MLREngine *engine = engineOf(host);
  MLRPage page = engine.pages.lastObject;
  NSString *line = @(text) ?: @"";
  if (page && engine.lifecycle.isForeground) page(@{@"t" : @"log", @"level" : @(level), @"text" : line});
  else NSLog(@"[ServiceClient] %@", line);
}

static void rested(void *host) {
  [engineOf(host).lifecycle rested];
}

// ---- Life

+ (instancetype)ofProcess {
  static MLREngine *engine;
  static dispatch_once_t once;
  dispatch_once(&once, ^{
    engine = [[MLREngine alloc] init];
  });
  return engine;
}

- (instancetype)init {
  self = [super init];
  if (self == nil) return nil;
  _queue = dispatch_queue_create("org.millrace.service-sdk-cordova", DISPATCH_QUEUE_SERIAL);
  _answers = [NSMutableDictionary dictionary];
  _pages = @[];
  _facts = [[MLRDeviceFacts alloc] init];
  _lifecycle = [[MLRLifecycle alloc] initWithListener:self];
  __weak MLREngine *weakSelf = self;
  _sender = [[MLRSender alloc] initWithQueue:_queue
                                    answered:^(uint64_t request, const mlr_answer *answer) {
                                      [weakSelf request:request wasAnswered:answer];
                                    }];
  dispatch_async(_queue, ^{
    [self makeCore];
  });
  [_facts watch:^{
    [weakSelf changed];
  }];
  [NSNotificationCenter.defaultCenter addObserver:self
                                         selector:@selector(unlocked)
                                             name:UIApplicationProtectedDataDidBecomeAvailable
                                           object:nil];
  return self;
}

- (void)makeCore {
  mlr_host host = {
      .self = (__bridge void *)self,
      .now = now,
      .monotonic = monotonic,
      .random = randomNumber,
      .uuid = uuid,
      .is_online = isOnline,
      .fact = fact,
      .request = sendRequest,
      .cancel = cancelRequest,
      .answer = answer,
      .signal = signalPage,
      .log = logLine,
      .rested = rested,
  };
  const char *folder = [self preparedFolder].fileSystemRepresentation;
  _core = mlr_new(&host, folder, _facts.systemVersion.UTF8String, _facts.platformVersion.UTF8String);
}

/** Kept out of backups, and closed until the phone was unlocked once; what is made in it takes after it. */
- (NSString *)preparedFolder {
  NSString *support = NSSearchPathForDirectoriesInDomains(NSApplicationSupportDirectory, NSUserDomainMask, YES).firstObject;
  NSString *folder = [support stringByAppendingPathComponent:@"service-sdk-cordova"];
  NSDictionary *protection = @{NSFileProtectionKey : NSFileProtectionCompleteUntilFirstUserAuthentication};
  [NSFileManager.defaultManager createDirectoryAtPath:folder
                          withIntermediateDirectories:YES
                                           attributes:protection
                                                error:NULL];
  [[NSURL fileURLWithPath:folder isDirectory:YES] setResourceValue:@YES forKey:NSURLIsExcludedFromBackupKey error:NULL];
  return folder;
}

// ---- The bridge

- (void)listen:(MLRPage)page {
  NSMutableArray<MLRPage> *pages = [self.pages mutableCopy];
  [pages addObject:page];
  self.pages = pages;
  page(@{@"t" : @"hello"});
}

- (void)stopListening:(MLRPage)page {
  NSMutableArray<MLRPage> *pages = [self.pages mutableCopy];
  [pages removeObject:page];
  self.pages = pages;
}

- (void)act:(NSString *)action arguments:(NSArray *)arguments from:(MLRPage)page answer:(MLRAnswer)answer {
  if ([action isEqualToString:@"advertId"]) {
    [self.facts readAdvertisingId:^(NSDictionary *known) {
      answer(YES, known);
    }];
    return;
  }
  NSData *json = [self jsonOf:arguments];
  if (json == nil) {
    answer(NO, @{@"code" : @"BAD_ARGUMENT", @"detail" : @"no JSON"});
    return;
  }
  BOOL isUrgent = [action isEqualToString:@"state"] || [action isEqualToString:@"purge"];
  if (atomic_fetch_add(&_waiting, 1) >= MLRCallsWaiting + (isUrgent ? MLRUrgentCallsWaiting : 0)) {
    atomic_fetch_sub(&_waiting, 1);
    answer(NO, @{@"code" : @"QUEUE_FULL", @"detail" : @"10,000 calls wait"});
    return;
  }
  dispatch_async(_queue, ^{
    atomic_fetch_sub(&self->_waiting, 1);
    uint64_t call = ++self->_lastCall;
    self.answers[@(call)] = answer;
    mlr_act(self->_core, call, action.UTF8String, json.bytes, json.length);
    [self share:action arguments:arguments from:page];
  });
}

/** Other WebViews of the app follow an opt-out and the user as tabs of a browser do. */
- (void)share:(NSString *)action arguments:(NSArray *)arguments from:(nullable MLRPage)page {
  id state = [action isEqualToString:@"state"] || [action isEqualToString:@"push"] ? arguments.firstObject : nil;
  if ([action isEqualToString:@"push"] && [state isKindOfClass:[NSDictionary class]]) state = state[@"state"];
  if (![state isKindOfClass:[NSDictionary class]] || [state count] == 0) return;
  for (MLRPage other in self.pages) {
    if (other != page) other(@{@"t" : @"changed", @"state" : state});
  }
}

/** nil for texts that have no UTF-8, such as half a surrogate pair: NSJSONSerialization may also throw for those. */
- (nullable NSData *)jsonOf:(NSArray *)arguments {
  @try {
    return [NSJSONSerialization dataWithJSONObject:arguments options:0 error:NULL];
  } @catch (NSException *notJson) {
    return nil;
  }
}

- (void)request:(uint64_t)request wasAnswered:(const mlr_answer *)answer {
  mlr_answered(_core, request, answer);
}

- (void)unlocked {
  dispatch_async(_queue, ^{
    mlr_unlocked(self->_core);
  });
}

- (void)changed {
  dispatch_async(_queue, ^{
    mlr_changed(self->_core);
  });
}

// ---- MLRLifecycleListener

- (void)enteredByURL:(nullable NSString *)url {
  dispatch_async(_queue, ^{
    mlr_entered(self->_core, url.UTF8String);
  });
}

- (void)left {
  dispatch_async(_queue, ^{
    mlr_left(self->_core);
  });
}

- (void)backgroundTimeIsOver {
  dispatch_async(_queue, ^{
    [self.sender giveUp];
  });
}

@end
