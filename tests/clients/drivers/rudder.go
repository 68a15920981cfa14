package main

import (
	"os"
	"strconv"
	"sync"

	analytics "github.com/rudderlabs/analytics-go/v4"
)

// Close ends repeating: a program that must not lose events waits until each has its outcome.
type outcomes struct{ sync.WaitGroup }

func (o *outcomes) Success(analytics.Message)        { o.Done() }
func (o *outcomes) Failure(analytics.Message, error) { o.Done() }

func main() {
	var waiting outcomes
	client, err := analytics.NewWithConfig(os.Getenv("KEY"), analytics.Config{DataPlaneUrl: os.Getenv("URL"), Callback: &waiting})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	defer waiting.Wait()
	send := func(message analytics.Message) {
		waiting.Add(1)
		client.Enqueue(message)
	}
	switch os.Getenv("SCENARIO") {
	case "kinds":
		send(analytics.Identify{UserId: "u-88", Traits: analytics.NewTraits().Set("plan", "gold").Set("seats", 14)})
		send(analytics.Track{UserId: "u-88", Event: "Seat Reserved", Properties: analytics.NewProperties().Set("hall", "B").Set("price", 18.5)})
		send(analytics.Page{UserId: "u-88", Name: "Seats", Properties: analytics.NewProperties().Set("path", "/seats")})
		send(analytics.Screen{UserId: "u-88", Name: "Programme", Properties: analytics.NewProperties().Set("day", "Friday")})
		send(analytics.Group{UserId: "u-88", GroupId: "g-7", Traits: analytics.NewTraits().Set("name", "Friends of film")})
		send(analytics.Alias{UserId: "u-88", PreviousId: "u-77"})
	case "anonymous":
		send(analytics.Track{AnonymousId: "a-5", Event: "Opened"})
	default:
		count, _ := strconv.Atoi(os.Getenv("COUNT"))
		for n := 0; n < count; n++ {
			send(analytics.Track{UserId: "u-88", Event: "Counted", Properties: analytics.NewProperties().Set("n", n)})
		}
	}
}
