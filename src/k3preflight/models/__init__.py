"""The vocabulary: profiles, hosts and reports as frozen models. They judge nothing."""
