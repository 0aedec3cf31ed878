"""Set-up, services, processes and checks: everything around the product that is not the product."""
