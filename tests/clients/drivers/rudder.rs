use rudderanalytics::client::RudderAnalytics;
use rudderanalytics::message::{Alias, Group, Identify, Message, Page, Screen, Track};
use serde_json::json;
use std::env::var;

fn main() {
    let analytics = RudderAnalytics::load(var("KEY").unwrap(), var("URL").unwrap());
    let user = || Some("u-88".to_string());
    let send = |message: Message| {
        if let Err(error) = analytics.send(&message) {
            eprintln!("{error}");
            std::process::exit(1)
        }
    };
    match var("SCENARIO").unwrap().as_str() {
        "kinds" => {
            send(Message::Identify(Identify { user_id: user(), traits: Some(json!({"plan": "gold", "seats": 14})), ..Default::default() }));
            send(Message::Track(Track { user_id: user(), event: "Seat Reserved".into(), properties: Some(json!({"hall": "B", "price": 18.5})), ..Default::default() }));
            send(Message::Page(Page { user_id: user(), name: "Seats".into(), properties: Some(json!({"path": "/seats"})), ..Default::default() }));
            send(Message::Screen(Screen { user_id: user(), name: "Programme".into(), properties: Some(json!({"day": "Friday"})), ..Default::default() }));
            send(Message::Group(Group { user_id: user(), group_id: "g-7".into(), traits: Some(json!({"name": "Friends of film"})), ..Default::default() }));
            send(Message::Alias(Alias { user_id: "u-88".into(), previous_id: "u-77".into(), ..Default::default() }));
        }
        "anonymous" => send(Message::Track(Track { anonymous_id: Some("a-5".into()), event: "Opened".into(), ..Default::default() })),
        _ => {
            for n in 0..var("COUNT").unwrap().parse::<u32>().unwrap() {
                send(Message::Track(Track { user_id: user(), event: "Counted".into(), properties: Some(json!({"n": n})), ..Default::default() }));
            }
        }
    }
}
