#import "MLRSender.h"

static const NSInteger MLRConnectMs = 10000;

/** One request, from its beginning to its answer. */
@interface MLRExchange : NSObject

@property(nonatomic) uint64_t request;
@property(nonatomic) NSUInteger mostBytes;
@property(nonatomic) NSURLSessionDataTask *task;
@property(nonatomic) NSMutableData *body;
@property(nonatomic, nullable) NSHTTPURLResponse *response;
@property(nonatomic) BOOL isConnected;
@property(nonatomic) BOOL isCut;

@end

@implementation MLRExchange
@end

@interface MLRSender () <NSURLSessionDataDelegate>

@property(nonatomic, readonly) NSURLSession *session;
@property(nonatomic, readonly) MLRAnswered answered;
@property(nonatomic, readonly) NSMutableArray<MLRExchange *> *exchanges;

@end

@implementation MLRSender {
  dispatch_queue_t _queue;
}

- (instancetype)initWithQueue:(dispatch_queue_t)queue answered:(MLRAnswered)answered {
  self = [super init];
  if (self == nil) return nil;
  _queue = queue;
  _answered = [answered copy];
  _exchanges = [NSMutableArray array];
  NSURLSessionConfiguration *configuration = NSURLSessionConfiguration.ephemeralSessionConfiguration;
  configuration.HTTPCookieStorage = nil;
  configuration.HTTPShouldSetCookies = NO;
  configuration.URLCache = nil;
  configuration.URLCredentialStorage = nil;
  configuration.requestCachePolicy = NSURLRequestReloadIgnoringLocalCacheData;
  NSOperationQueue *callbacks = [[NSOperationQueue alloc] init];
  callbacks.underlyingQueue = queue;
  _session = [NSURLSession sessionWithConfiguration:configuration delegate:self delegateQueue:callbacks];
  return self;
}

- (void)send:(const mlr_request *)request {
  MLRExchange *exchange = [[MLRExchange alloc] init];
  exchange.request = request->id;
  exchange.mostBytes = request->most_bytes;
  exchange.body = [NSMutableData data];
  NSURL *url = [NSURL URLWithString:@(request->url) ?: @""];
  if (url == nil) {
    [self end:exchange trouble:@"not a URL"];
    return;
  }
  NSMutableURLRequest *sent = [NSMutableURLRequest requestWithURL:url];
  for (size_t at = 0; at < request->header_count; at++) {
    [sent setValue:@(request->headers[at].value) forHTTPHeaderField:@(request->headers[at].name)];
  }
  sent.timeoutInterval = request->in_all_ms / 1000.0;
  if (request->body != NULL) {
    sent.HTTPMethod = @"POST";
    sent.HTTPBody = [NSData dataWithBytes:request->body length:request->body_bytes];
  }
  exchange.task = [self.session dataTaskWithRequest:sent];
  [self.exchanges addObject:exchange];
  [exchange.task resume];
  // The session's own time-outs are per read.
  [self end:exchange after:request->in_all_ms unlessConnected:NO];
  if (request->body != NULL) [self end:exchange after:MLRConnectMs unlessConnected:YES];
}

- (void)cancel:(uint64_t)request {
  for (MLRExchange *exchange in [self.exchanges copy]) {
    if (exchange.request != request) continue;
    [self.exchanges removeObject:exchange];
    [exchange.task cancel];
  }
}

- (void)giveUp {
  for (MLRExchange *exchange in self.exchanges) [exchange.task cancel];
}

- (void)end:(MLRExchange *)exchange after:(NSInteger)milliseconds unlessConnected:(BOOL)unlessConnected {
  __weak MLRExchange *weakExchange = exchange;
  dispatch_after(dispatch_time(DISPATCH_TIME_NOW, milliseconds * (int64_t)NSEC_PER_MSEC), _queue, ^{
    if (!unlessConnected || !weakExchange.isConnected) [weakExchange.task cancel];
  });
}

/** @param trouble nil: there was a whole answer */
- (void)end:(MLRExchange *)exchange trouble:(nullable NSString *)trouble {
  NSHTTPURLResponse *response = exchange.response;
  mlr_answer answer = {
      // Once the status has been said, it alone decides.
      .status = (int)response.statusCode,
      .body = exchange.body.length == 0 ? "" : exchange.body.bytes,
      .body_bytes = exchange.body.length,
      .is_cut = exchange.isCut || trouble != nil,
      .trouble = trouble.UTF8String,
      .event_index = [self header:@"X-Millrace-Event-Index" of:response].UTF8String,
      .retry_after = [self header:@"Retry-After" of:response].UTF8String,
      .location = [self header:@"Location" of:response].UTF8String,
      .etag = [self header:@"ETag" of:response].UTF8String,
  };
  self.answered(exchange.request, &answer);
}

- (nullable NSString *)header:(NSString *)name of:(nullable NSHTTPURLResponse *)response {
  for (NSString *each in response.allHeaderFields) {
    if ([each caseInsensitiveCompare:name] == NSOrderedSame) return response.allHeaderFields[each];
  }
  return nil;
}

- (nullable MLRExchange *)exchangeOf:(NSURLSessionTask *)task {
  for (MLRExchange *exchange in self.exchanges) {
    if (exchange.task == task) return exchange;
  }
  return nil;
}

// ---- NSURLSessionDataDelegate

- (void)URLSession:(NSURLSession *)session
                          task:(NSURLSessionTask *)task
    willPerformHTTPRedirection:(NSHTTPURLResponse *)response
                    newRequest:(NSURLRequest *)request
             completionHandler:(void (^)(NSURLRequest *_Nullable))completionHandler {
  completionHandler(nil);
}

- (void)URLSession:(NSURLSession *)session
                        task:(NSURLSessionTask *)task
             didSendBodyData:(int64_t)bytesSent
              totalBytesSent:(int64_t)totalBytesSent
    totalBytesExpectedToSend:(int64_t)totalBytesExpectedToSend {
  [self exchangeOf:task].isConnected = YES;
}

- (void)URLSession:(NSURLSession *)session
              dataTask:(NSURLSessionDataTask *)task
    didReceiveResponse:(NSURLResponse *)response
     completionHandler:(void (^)(NSURLSessionResponseDisposition))completionHandler {
  MLRExchange *exchange = [self exchangeOf:task];
  exchange.isConnected = YES;
  if ([response isKindOfClass:[NSHTTPURLResponse class]]) exchange.response = (NSHTTPURLResponse *)response;
  completionHandler(NSURLSessionResponseAllow);
}

- (void)URLSession:(NSURLSession *)session dataTask:(NSURLSessionDataTask *)task didReceiveData:(NSData *)data {
  MLRExchange *exchange = [self exchangeOf:task];
  NSUInteger room = exchange.mostBytes - exchange.body.length;
  exchange.isCut = data.length > room;
  [exchange.body appendData:exchange.isCut ? [data subdataWithRange:NSMakeRange(0, room)] : data];
  if (exchange.isCut) [task cancel];
}

- (void)URLSession:(NSURLSession *)session
                    task:(NSURLSessionTask *)task
    didCompleteWithError:(nullable NSError *)error {
  MLRExchange *exchange = [self exchangeOf:task];
  if (exchange == nil) return;
  [self.exchanges removeObject:exchange];
  // Its description may hold the address.
  NSString *trouble = error == nil ? nil : [NSString stringWithFormat:@"%@ %ld", error.domain, (long)error.code];
  [self end:exchange trouble:trouble];
}

@end
