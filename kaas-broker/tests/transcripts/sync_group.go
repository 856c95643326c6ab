package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

func syncGroupScript(t *Talk) {
	const group = "sync-group"
	t.Coordinated(group)
	t.AskEach("an unknown group", 0, 5, syncing(group, "nobody", 1))
	for _, id := range groupIDs {
		t.Ask(id.name, 5, syncing(id.id, "nobody", 1))
	}
	member, generation := t.Joined(group, "member", "range")
	syncGroupRefusals(t, group, member, generation)
	t.Ask("no bytes for the only member", 5, syncing(group, member, generation, "nobody", "x"))
	t.AskEach("again, now with bytes", 0, 5, syncing(group, member, generation, member, "late"))
	syncGroupRefusals(t, group+"-stable", member, generation)
	stable, generation := t.Stable(group+"-stable", "stable", "range")
	t.Ask("a stable group's member", 5, syncing(group+"-stable", stable, generation))
	t.Ask("a stable group's member with the generation before", 5, syncing(group+"-stable", stable, generation-1))
	reserved := t.Reserved(group+"-stable", "reserved", "range")
	t.Ask("a reserved id", 5, syncing(group+"-stable", reserved, generation))
}

func syncGroupRefusals(t *Talk, group, member string, generation int32) {
	t.Ask("an unknown member of "+group, 5, syncing(group, "nobody", generation))
	t.Ask("no member of "+group, 5, syncing(group, "", generation))
	t.Ask("the generation before of "+group, 5, syncing(group, member, generation-1))
	t.Ask("the next generation of "+group, 5, syncing(group, member, generation+1))
	t.Ask("generation -1 of "+group, 5, syncing(group, member, -1))
	for _, c := range []struct {
		name string
		set  func(*kmsg.SyncGroupRequest)
	}{
		{"no type", func(r *kmsg.SyncGroupRequest) { r.ProtocolType = nil }},
		{"no protocol", func(r *kmsg.SyncGroupRequest) { r.Protocol = nil }},
		{"neither type nor protocol", func(r *kmsg.SyncGroupRequest) { r.ProtocolType, r.Protocol = nil, nil }},
		{"another type", func(r *kmsg.SyncGroupRequest) { r.ProtocolType = new("connect") }},
		{"another protocol", func(r *kmsg.SyncGroupRequest) { r.Protocol = new("sticky") }},
		{"an instance id that is unknown", func(r *kmsg.SyncGroupRequest) { r.InstanceID = new("nobody") }},
	} {
		request := syncing(group, member, generation)
		c.set(request)
		t.Ask(c.name+" of "+group, 5, request)
	}
}
